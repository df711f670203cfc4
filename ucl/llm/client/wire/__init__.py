"""What goes over the wire, and what comes back.

requests       an `Ask` as the Responses or the chat API takes it, held to its form in one way or another
schemas        the JSON schema of a pydantic model, as servers take it
exchange       one request, sent through the `openai` package; bounded in time and size, without exceptions
replies        what a server's JSON says, whichever API and server it is
understanding  what of that was asked for, and what its form shows of the server
"""
