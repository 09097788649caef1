// A grader without a model: it answers by what stands in the prompt.
class Grader {
  constructor(o) { this.n = 0; }
  id() { return 'mock:grader'; }
  async callApi(prompt) {
    if (prompt.includes('blocked')) return { error: 'API error: 400 content_filter: the response was filtered' };
    if (prompt.includes('garbled')) return { output: 'I would rather not say.' };
    if (prompt.includes('slow')) return { error: 'Request timed out after 300000 ms' };
    return { output: JSON.stringify({ reason: 'It holds together.', pass: true, score: 0.75 }) };
  }
}
module.exports = Grader;
