/** What terms mean, in a sentence each. */
export const help = {
  sensitivity: {
    term: 'Sensitivity',
    sentence:
      'Fires when volume is so many times further from normal than usual swings go. 2 reacts to small changes, 8 only to drastic ones.',
  },
  learning: {
    term: 'Learning',
    sentence: 'Needs 3 days of traffic before it can judge. Until then it raises nothing.',
  },
  period: { term: 'Period', sentence: 'How often the rule is checked, and how far back each check looks.' },
  limit: {
    term: 'Limit',
    sentence: 'At most so many messages about one issue. What is held back is counted and told later.',
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
  watching: { term: 'Watching', sentence: 'Traffic after this change is being compared with before.' },
  unreviewed: {
    term: 'Unreviewed host',
    sentence: 'Events from here are accepted. Deny it if it is not yours: later events are dropped.',
  },
  sampled: { term: 'Sampled', sentence: 'Judged on a part of the events; the count is an estimate.' },
  beside: {
    term: 'Bad beside good',
    sentence: 'The latest event that broke the rule, beside the latest of the same kind that kept it.',
  },
}
