/** Explanations of terms. Each has one or two sentences. */
export const help = {
  sensitivity: {
    term: 'Sensitivity',
    sentence:
      'How far volume must deviate to fire, as a multiple of its usual variation. 2 reacts to small changes, 8 only to drastic ones.',
  },
  state: {
    term: 'Status',
    sentence:
      'Low and high: outside the expected range. Silent: no events for longer than usual. Learning: collecting the first 3 days of traffic, without opening issues.',
  },
  mutedOrOff: {
    term: 'Muted, off',
    sentence: 'Muted: monitored, but without notifications. Off: not monitored.',
  },
  value: {
    term: 'Value',
    sentence: 'Estimated cost per issue, as set in the alert. Used for sorting and totals.',
  },
  occurrences: {
    term: 'Occurrences',
    sentence:
      'For data rules: events that violated the rule. For volume alerts: checks that fired. For tests and audits: runs with this finding.',
  },
  score: {
    term: 'Score',
    sentence: '100 means no known problems. The three main causes of a lower score are listed below it.',
  },
  comparison: {
    term: 'Violating vs. valid event',
    sentence: 'The most recent event that violated the rule, next to the most recent valid event of the same kind.',
  },
}
