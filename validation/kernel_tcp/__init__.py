"""Linux's Reno and CUBIC in real time, beside our ``tcp`` on virtual time, on ten networks."""
