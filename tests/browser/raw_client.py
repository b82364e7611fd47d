"""A client that is no browser: speaks to a server as Streamlit's front end would, and asks what it likes."""

import re
from contextlib import contextmanager
from urllib.parse import parse_qs

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

PATIENCE = 60
XSRF = "_streamlit_xsrf"
TEXTS = ("markdown", "heading", "alert", "text", "exception", "code")


class Client:
    """Somebody with cookies.

    Args:
        server: address as people type it, which is the origin of its pages.
        via: address that leads there; the same where None. Over http, as after a proxy that speaks TLS.
        **headers: sent with every request.
    """

    def __init__(self, server, via=None, **headers):
        self.server, self.via = server, via or server
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.http = httpx.Client(base_url=self.via, headers=self.headers, timeout=PATIENCE)
        self.http.event_hooks = {"response": [self._keep_cookies]}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.close()

    def _keep_cookies(self, _):
        for cookie in self.http.cookies.jar:
            cookie.secure = False  # it goes to the proxy by https

    @contextmanager
    def page(self, query="", name="", origin=None, resume=""):
        """A page of the app once it is drawn, until the end of the block.

        Args:
            query: of its address.
            name: of the page in its address.
            origin: that the socket says it comes from; the server's where None.
            resume: id of a session to go on with.
        """
        self.http.get("/_stcore/health")
        token = self.http.cookies.get(XSRF, "").strip('"')
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.http.cookies.jar)
        own = {
            name: value for name, value in self.headers.items() if name != "Host"
        }  # a socket sends it itself
        with connect(
            self.via.replace("http", "ws", 1) + "/_stcore/stream",
            subprotocols=["streamlit", token, *([resume] if resume else [])],
            origin=origin or self.server,
            additional_headers=own | {"Cookie": cookies},
            max_size=None,
            open_timeout=PATIENCE,
        ) as socket:
            page = Page(self, socket, name)
            page.run(query)
            yield page

    def sign_in(self, person):
        """Have the provider say who this is; returns the app's answer, which sets the cookies."""
        with self.page() as page:
            page.click("Sign in")
            consent = self.http.get(page.redirect)
        code = self.http.post(consent.headers["location"], data={"sub": person})
        callback = code.headers["location"].replace(self.server, self.via)
        return self.http.get(callback)


class Page:
    """A session of the app: what is drawn, and ways to use it."""

    def __init__(self, client, socket, name):
        self.client, self.socket, self.name = client, socket, name
        self.session = self.redirect = None
        self.query, self.script, self.part, self.widgets = "", "", "", {}
        self.elements, self.labels, self.frames = [], [], []

    def run(self, query=None, part="", **widgets):
        """Draw the page anew.

        Args:
            query: of the address; as it is now where None.
            part: id of what is drawn alone, such as `self.part`, the page without its frame; all where empty.
            **widgets: id of a widget → a field of its state and the value.
        """
        self.query = self.query if query is None else query
        states = [{"id": key} | state for key, state in (self.widgets | widgets).items()]
        request = {
            "query_string": self.query,
            "page_script_hash": self.script,
            "widget_states": {"widgets": states},
            "fragment_id": part,
        }
        if not self.script:
            request["page_name"] = self.name
        self.send(rerun_script=request)
        while self.receive("script_finished").script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            pass
        return self

    def send(self, **fields):
        self.socket.send(BackMsg(**fields).SerializeToString())

    def receive(self, kind):
        """The next message of a kind; notes all before it."""
        while True:
            frame = self.socket.recv(PATIENCE)
            self.frames.append(frame)
            message = ForwardMsg.FromString(frame)
            self._note(message)
            if message.WhichOneof("type") == kind:
                return message

    def _note(self, message):
        match message.WhichOneof("type"):
            case "new_session":
                self.session, self.elements, self.labels = message.new_session.initialize.session_id, [], []
            case "delta" if message.delta.WhichOneof("type") == "new_element":
                self.elements.append(message.delta.new_element)
                self.part = message.delta.fragment_id or self.part
            case "delta" if message.delta.WhichOneof("type") == "add_block":
                self.labels.append(message.delta.add_block.expandable.label)
            case "navigation":
                self.script = message.navigation.page_script_hash
            case "page_info_changed":
                self.query = message.page_info_changed.query_string
            case "auth_redirect":
                self.redirect = message.auth_redirect.url

    @property
    def text(self):
        """All that is written on it, without what keeps names from being Markdown."""
        parts = [getattr(element, element.WhichOneof("type")) for element in self.elements if _is_text(element)]
        texts = [getattr(part, "body", "") or getattr(part, "message", "") for part in parts]
        return re.sub("[\\\\\u2060]", "", "\n".join([*texts, *self.labels]))

    @property
    def board(self):
        """The id of the board in the address."""
        return parse_qs(self.query).get("data", [""])[0]

    def find(self, kind, label):
        """The element of a kind with a label that begins so; None where there is none."""
        elements = [getattr(element, kind) for element in self.elements if element.WhichOneof("type") == kind]
        return next((element for element in elements if element.label.startswith(label)), None)

    def click(self, label):
        return self.run(**{self.find("button", label).id: {"trigger_value": True}})

    def type(self, label, text):
        """Have a field hold a text from now on."""
        self.widgets[self.find("text_input", label).id] = {"string_value": text}

    def offer(self, label):
        """The id of a download that a button offers."""
        return self.find("download_button", label).deferred_file_id

    def download(self, file_id):
        """The address of a download once it is made; an empty text where the server makes none."""
        request = {"request_id": file_id, "session_id": self.session, "deferred_file": {"file_id": file_id}}
        self.send(backend_operation_request=request)
        return self.receive("backend_operation_response").backend_operation_response.deferred_file.url

    def tick(self, label, *, is_on=True):
        """Tick a box, or turn a switch on; or off."""
        return self.run(**{self.find("checkbox", label).id: {"bool_value": is_on}})

    def drop(self, name, content):
        """Upload a file on the page Data, and return there from the Leaderboard."""
        data_page = self.script
        field = self.find("file_uploader", "Drop")
        self.send(file_urls_request={"request_id": name, "file_names": [name], "session_id": self.session})
        (urls,) = self.receive("file_urls_response").file_urls_response.file_urls
        upload(self.client.http, urls.upload_url, name, content).raise_for_status()
        info = {"name": name, "size": len(content), "file_id": urls.file_id, "file_urls": urls}
        self.run(**{field.id: {"file_uploader_state_value": {"uploaded_file_info": [info]}}})
        self.script = data_page
        return self.run()


def _is_text(element):
    return element.WhichOneof("type") in TEXTS


def upload(http, path, name, content):
    """The answer to an upload, with the token that the server gives to anybody."""
    token = http.cookies.get(XSRF, "").strip('"')
    return http.put(path, files={"file": (name, content)}, headers={"X-Xsrftoken": token})
