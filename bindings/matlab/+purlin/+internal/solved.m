function solved(info, name)
%SOLVED  Warns if not all eigenpairs that were wanted have converged.
  if info.converged < info.count || ~any(strcmp(info.stop_reason, {'converged', 'exhausted'}))
    warning('purlin:noConvergence', 'purlin.%s: %d eigenpairs have converged after %d restarts', name, ...
            info.converged, info.restarts);
  end
end
