class Writer {
  id() { return 'mock:writer'; }
  async callApi(prompt) {
    if (prompt.includes('broken')) return { error: 'writer is down' };
    return { output: 'Story: ' + prompt };
  }
}
module.exports = Writer;
