"""Packed symmetric tensors for the scripts beside this one: index tuples, multinomials, products, classes."""
import numpy as np, itertools, math
from functools import lru_cache
@lru_cache(None)
def idx(m,n):
    return tuple(itertools.combinations_with_replacement(range(n),m))
@lru_cache(None)
def mono(m,n):
    I=idx(m,n); K=np.zeros((len(I),n),int)
    for r,t in enumerate(I):
        for i in t: K[r,i]+=1
    return K
@lru_cache(None)
def mult(m,n):
    K=mono(m,n); return np.array([math.factorial(m)//int(np.prod([math.factorial(k) for k in r])) for r in K],float)
def full(a,m,n):
    A=np.zeros((n,)*m)
    for v,t in zip(a,idx(m,n)):
        for p in set(itertools.permutations(t)): A[p]=v
    return A
def ttsv(A,X,p):
    """A full, X (n,V); returns A x^(m-p) with leading p dims, last V"""
    m=A.ndim; V=X.shape[1]
    Y=np.tensordot(A,X,axes=(m-1,0)) # ...,V
    for k in range(m-1-p):
        Y=np.einsum('...jv,jv->...v',Y,X)
    return Y
def stab(A,x,lam,tol=1e-9):
    m=A.ndim;n=len(x)
    H=(m-1)*ttsv(A,x[:,None],2)[...,0]-lam*np.eye(n)
    U=np.linalg.svd(x[None,:])[2][1:].T
    return np.linalg.eigvalsh(U.T@H@U)
def canon(x,m,lam):
    if m%2: # make lam>=0; if |lam| tiny use sign of largest comp
        if lam<0: return -x,-lam
        return x,lam
    i=np.argmax(np.abs(x)); return (x if x[i]>0 else -x),lam
