/** What terms mean, in a sentence each. */
export const help = {
  sensitivity: {
    term: 'Sensitivity',
    sentence:
      'Fires when volume is so many times further from normal than usual swings go. 2 reacts to small changes, 8 only to drastic ones.',
  },
  state: {
    term: 'State',
    sentence:
      'Low and high: beside what is expected. Silent: nothing came for longer than usual. Learning: needs 3 days of traffic before it can judge; until then it raises nothing.',
  },
  mutedOrOff: { term: 'Muted, off', sentence: 'Muted: still counted, tells nobody. Off: not watched.' },
  value: {
    term: 'Value',
    sentence: 'What this trouble is worth to you, as set in its alert. Used to sort and to sum.',
  },
  occurrences: {
    term: 'Occurrences',
    sentence: 'Events that broke the rule. For volume rules: checks that fired. For tests and audits: runs with it.',
  },
  score: { term: 'Score', sentence: '100 is no known trouble. The sentence names the three largest causes.' },
  beside: {
    term: 'Bad beside good',
    sentence: 'The latest event that broke the rule, beside the latest of the same kind that kept it.',
  },
}
