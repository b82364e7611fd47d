"""The library's boards: what can be done with them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from dashboard.library.audit import audited
from dashboard.library.boards import Board, default_name, make_board
from dashboard.library.loaded import Published
from dashboard.library.names import board_name, clean, copy_name, storable
from dashboard.library.storage import board_rows, quota, upload_rows
from dashboard.library.storage.base import LibraryBase
from dashboard.library.storage.records import Access, BoardListing, Record
from dashboard.library.storage.schema import board_files, boards, is_restorable, now, published_tables
from metrics.errors import LibraryError, TieScopeError, UsageError


class BoardMethods(LibraryBase):
    """Boards in a folder and a database."""

    @audited("kept")
    def keep(
        self,
        board: Board,
        owner: str = "",
        *,
        name: str = "",
        view: Mapping[str, Any] | None = None,
        access: Access = "private",
        single: bool = False,
    ) -> Record:
        """Keep a board and its files; one without a name that is there already is found again.

        Args:
            board: read and joined.
            owner: whose it is.
            name: what it is called; else it is told by its size.
            view: what it is opened with; None: what its files say.
            access: who else may open it.
            single: whether it is an error that there is one of this name already.

        Returns:
            The board as it is kept.

        Raises:
            LibraryError: it cannot be kept, or there is one of this name already and `single`.
        """
        name, board = board_name(name), self._storable(board, owner)
        view = board.first_view if view is None else view
        with self._intake.taking_in(board, owner) as connection:
            if single and connection.scalar(board_rows.boards_of_name(name, owner)):
                raise LibraryError(f"There is a board {name} already. Choose another name.")
            board_id = None if name else connection.scalar(board_rows.unnamed_board(board.spec, owner))
            if board_id:
                connection.execute(boards.update().where(boards.c.id == board_id).values(changed=now()))
            else:
                board_id = board_rows.insert_board(
                    connection, board, owner, name=name, access=access, view=dict(view)
                )
            return board_rows.read_record(connection, self._parquets, board_id, owner)

    @audited("changed")
    def revise(self, board_id: str, version: int, board: Board, owner: str = "") -> Record:
        """Change what is on a board, if nobody else has since `version` was read.

        Args:
            board_id: id of the board.
            version: of the board as it was read.
            board: what it is to hold.
            owner: whose library; an empty text where one owner stands for everybody.

        Returns:
            The board as it is kept now.

        Raises:
            LibraryError: somebody changed it since, it is not the owner's, or there is no room.
        """
        board = self._storable(board, owner)
        with self._intake.taking_in(board, owner) as connection:
            before = self._own(connection, board_id, owner)
            if before.version != version:
                raise LibraryError(
                    f"{before.name} was changed by somebody else meanwhile. Load the page again."
                )
            name = before.name if before.named else default_name(board)
            self._update(connection, before, name=name, **board_rows.spec_values(board.spec))
            connection.execute(board_files.delete().where(board_files.c.board_id == before.id))
            board_rows.write_files(connection, before.id, board)
            return board_rows.read_record(connection, self._parquets, before.id, owner)

    def find(self, board_id: str, owner: str = "") -> Record:
        """Return a board that this visitor may open."""
        with self._database.reading() as connection:
            return board_rows.read_record(connection, self._parquets, board_id, owner)

    def look(self, board_id: str, owner: str = "") -> Record | None:
        """Return what `find` does, None where there is no such board for this visitor."""
        with self._database.reading() as connection:
            try:
                return board_rows.read_record(connection, self._parquets, board_id, owner)
            except LibraryError:
                return None

    def boards(
        self, owner: str = "", *, deleted: bool = False, most_unnamed: int | None = None
    ) -> list[BoardListing]:
        """Return somebody's boards, the one changed last first.

        Args:
            owner: whose.
            deleted: whether it is those that were deleted and can be restored.
            most_unnamed: how many of those that nobody gave a name, the newest; all where None.
        """
        present = is_restorable(boards.c.deleted) if deleted else boards.c.deleted.is_(None)
        own, newest = (boards.c.owner == owner) & present, boards.c.changed.desc()
        query = sa.select(*board_rows.LISTING_COLUMNS).where(own).order_by(newest)
        if most_unnamed is not None:
            unnamed = sa.select(boards.c.id).where(own, boards.c.named.is_(False)).order_by(newest)
            query = query.where(boards.c.named | boards.c.id.in_(unnamed.limit(most_unnamed)))
        with self._database.reading() as connection:
            return [BoardListing(*row) for row in connection.execute(query)]

    @audited("renamed")
    def rename(self, board_id: str, name: str, owner: str = "") -> Record:
        """Call a board something else.

        Args:
            board_id: id of the board.
            name: the new one.
            owner: whose library; an empty text where one owner stands for everybody.

        Returns:
            The board as it is kept now.

        Raises:
            UsageError: the name is empty.
            LibraryError: the board is not the owner's.
        """
        if not board_name(name):
            raise UsageError("A board needs a name.")
        with self._database.writing() as connection:
            before = self._own(connection, board_id, owner)
            self._update(connection, before, name=board_name(name), named=True)
            return board_rows.read_record(connection, self._parquets, before.id, owner)

    @audited("saved view")
    def save_view(self, board_id: str, view: Mapping[str, Any], owner: str = "") -> None:
        """Say what a board is opened with.

        Args:
            board_id: id of the board.
            view: setting → value, as controls hold them.
            owner: whose library; an empty text where one owner stands for everybody.

        Raises:
            LibraryError: the board is not the owner's.
        """
        self._change(board_id, owner, view=dict(view))

    @audited("shared")
    def share(self, board_id: str, access: Access, owner: str = "") -> None:
        """Say who else may open a board; its owner only.

        Args:
            board_id: id of the board.
            access: who else may open it.
            owner: whose library; an empty text where one owner stands for everybody.

        Raises:
            LibraryError: the board is not the owner's.
        """
        self._change(board_id, owner, by_owner=True, access=access)

    @audited("kept published results")
    def publish(self, board_id: str, published: Published, owner: str = "") -> None:
        """Keep the published results that a board is audited against, in place of those before.

        Args:
            board_id: id of the board.
            published: what a link calls them, and their files packed.
            owner: whose library; an empty text where one owner stands for everybody.

        Raises:
            LibraryError: the board is not the owner's, or there is no room.
        """
        label, packed = published
        with self._database.writing() as connection:
            record = self._own(connection, board_id, owner)
            mine = published_tables.c.board_id == record.id
            connection.execute(published_tables.delete().where(mine))
            on_board = {entry.file.sha256 for entry in record.spec.entries}
            quota.free_space(connection, owner, len(packed), self._intake.most, on_board)
            values = {"board_id": record.id, "label": clean(label), "size": len(packed), "packed": packed}
            connection.execute(published_tables.insert().values(**values))

    def published(self, board_id: str, owner: str = "") -> Published | None:
        """Return the published results of a board that this visitor may open; None where it has none."""
        with self._database.reading() as connection:
            mine = published_tables.c.board_id == clean(board_id)
            row = connection.execute(sa.select(published_tables).where(mine)).first()
            if row is None:
                return None
            board_rows.read_record(connection, self._parquets, board_id, owner)
        return row.label, row.packed

    @audited("deleted")
    def delete(self, board_id: str, owner: str = "") -> None:
        """Take a board away, its owner only; for 30 days it can be restored."""
        self._change(board_id, owner, by_owner=True, deleted=now())

    @audited("restored")
    def restore(self, board_id: str, owner: str = "") -> None:
        """Bring a deleted board back."""
        with self._database.writing() as connection:
            own = (boards.c.id == clean(board_id)) & (boards.c.owner == owner)
            restorable = boards.c.deleted.is_(None) | is_restorable(boards.c.deleted)
            if not connection.execute(boards.update().where(own, restorable).values(deleted=None)).rowcount:
                raise LibraryError("That board is gone for good.")

    @audited("duplicated")
    def duplicate(self, board_id: str, owner: str = "", *, access: Access = "private") -> Record:
        """Return a board of one's own with the same content.

        Args:
            board_id: id of a board that the owner may see.
            owner: whose library; an empty text where one owner stands for everybody.
            access: who may open the new one.

        Raises:
            LibraryError: there is no such board for this owner.
        """
        with self._database.writing() as connection:
            before = board_rows.read_record(connection, self._parquets, board_id, owner)
            row = dict(connection.execute(sa.select(boards).where(boards.c.id == before.id)).mappings().one())
            row |= {"id": board_rows.new_id(), "owner": owner, "access": access, "named": True, "version": 1}
            row |= {"name": copy_name(before.name), "created": now(), "changed": now()}
            connection.execute(boards.insert().values(**row))
            of_board = sa.select(board_files).where(board_files.c.board_id == before.id)
            files = [dict(file, board_id=row["id"]) for file in connection.execute(of_board).mappings()]
            connection.execute(board_files.insert(), files)
            published = sa.select(published_tables).where(published_tables.c.board_id == before.id)
            for results in connection.execute(published).mappings():
                connection.execute(published_tables.insert().values(**{**results, "board_id": row["id"]}))
            for entry in before.spec.entries:
                upload_rows.add_to_shelf(connection, owner, entry.file.sha256, entry.file.name)
            return board_rows.read_record(connection, self._parquets, row["id"], owner)

    def _storable(self, board: Board, owner: str) -> Board:
        """Return the board as it is once it was kept and is opened again."""
        spec, sources = storable(board.spec, board.sources)
        if spec is not board.spec:
            try:
                board = make_board(spec, sources)
            except TieScopeError as error:
                raise LibraryError(f"It cannot be kept, for names of its files are cut. {error}") from error
        return replace(board, spec=self._intake.recognised(spec, owner))

    def _change(self, board_id: str, owner: str, *, by_owner: bool = False, **values: Any) -> None:  # noqa: ANN401
        with self._database.writing() as connection:
            self._update(connection, self._own(connection, board_id, owner, by_owner=by_owner), **values)

    @staticmethod
    def _update(connection: sa.Connection, before: Record, **values: Any) -> None:  # noqa: ANN401
        values |= {"version": before.version + 1, "changed": now()}
        connection.execute(boards.update().where(boards.c.id == before.id).values(**values))

    def _own(self, connection: sa.Connection, board_id: str, owner: str, *, by_owner: bool = False) -> Record:
        """Return a board that this visitor may change."""
        record = board_rows.read_record(connection, self._parquets, board_id, owner)
        if not record.may_change(owner) or (by_owner and record.owner != owner):
            raise LibraryError(f"{record.name} is somebody else's: it can be seen, not changed. Duplicate it.")
        return record
