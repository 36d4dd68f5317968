const counted = (count: number) => (count === 1 ? '1 issue' : `${count} issues`)

/** "3 issues acknowledged. 1 was left as it is: it is resolved already" */
const done = (what: string) => (count: number, left: number, why: string | null) =>
  `${count === 0 ? 'Nothing' : counted(count)} ${what}.${left === 0 ? '' : ` ${left} left as before${why === null ? '.' : `: ${why}`}`}`

const DURATIONS = { hour: '1 hour', day: '1 day', week: '1 week', forever: 'until I unmute' }

/** The list of issues, and the page of one. */
export const issues = {
  table: 'Issues',
  status: 'Status',
  severity: 'Severity',
  domain: 'Domain',
  type: 'Type',
  alert: 'Alert',
  project: 'Project',
  sortBy: 'Sort by',
  sorts: {
    severity: 'Severity',
    lastSeenAt: 'Last seen',
    firstSeenAt: 'First seen',
    impactValue: 'Value',
    occurrences: 'Occurrences',
  },
  issue: 'Issue',
  value: 'Value',
  lastSeen: 'Last seen',
  occurrences: (count: string) => `${count}×`,
  moreHosts: (count: number) => `+${count}`,
  until: 'until',
  newer: (count: number) => (count === 1 ? 'Show 1 new issue' : `Show ${count} new issues`),
  selectedIssues: 'Selected issues',
  selected: (count: number) => `${count} selected`,
  acknowledge: 'Acknowledge',
  resolve: 'Resolve',
  reopen: 'Reopen',
  mute: 'Mute',
  clearSelection: 'Clear selection',
  muteFor: DURATIONS,
  muteOne: 'Mute one issue at a time.',
  done: {
    open: done('reopened'),
    acknowledged: done('acknowledged'),
    resolved: done('resolved'),
    muted: done('muted'),
  },
  nothingTo: {
    open: 'Nothing to reopen here.',
    acknowledged: 'Nothing to acknowledge here.',
    resolved: 'Nothing to resolve here.',
    muted: 'Nothing to mute here.',
  },
  takenBack: (count: number) => `Taken back: ${counted(count)} as before.`,
  nothingWrong: 'Nothing is wrong that Tagwarden knows of.',
  watching: (signals: string, alerts: string) => `${signals} and ${alerts} are watching.`,
  signals: (count: number, isAll: boolean) => `${count}${isAll ? '' : '+'} ${count === 1 ? 'signal' : 'signals'}`,
  alerts: (count: number, isAll: boolean) => `${count}${isAll ? '' : '+'} ${count === 1 ? 'alert' : 'alerts'}`,
  noneMatches: 'No issue matches these filters.',
  changing: 'Changing issues',
}
