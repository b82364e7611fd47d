"""Alembic environment: migrations run in the caller's transaction."""

from alembic import context

connection = context.config.attributes["connection"]
if connection.dialect.name == "sqlite":  # before the first table, which Alembic's own is
    connection.exec_driver_sql("PRAGMA auto_vacuum = INCREMENTAL")
context.configure(connection=connection)
context.run_migrations()
