"""The probe: an adapter through which the model that ships reads posts, and linear outputs over its hidden states."""
