"""The only part of core that imports a model library; each module hides one vendor behind a port."""
