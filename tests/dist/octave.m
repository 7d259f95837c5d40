% A product of known rank is found again, with the function that the package offers first.
A = reshape(sin(1:3000), 100, 30) * diag([1:5, zeros(1, 25)]);
[U, S, V] = purlin.rsvd(A, 5);
difference = norm(U * S * V' - A) / norm(A);
assert(difference < 1e-10, 'the difference is %g', difference);
fprintf('Octave: %g\n', difference);
