"""The probe: linear outputs over the hidden states of the model that ships, for reading posts."""
