"""What Alembic runs for every command: the steps, in the transaction of ``core.desk.database.revisions``."""

from alembic import context

from core.desk.schema import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
