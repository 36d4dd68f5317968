const counted = (count: number) => (count === 1 ? '1 issue' : `${count} issues`)

/** For example, "3 issues acknowledged. 1 unchanged: it is resolved already". */
const done = (what: string) => (count: number, left: number, why: string | null) =>
  `${count === 0 ? 'No issues' : counted(count)} ${what}.${left === 0 ? '' : ` ${left} unchanged${why === null ? '.' : `: ${why}`}`}`

const DURATIONS = { hour: '1 hour', day: '1 day', week: '1 week', forever: 'Until I unmute' }

/** The list of issues, and the actions on issues. */
export const issues = {
  table: 'Issues',
  status: 'Status',
  severity: 'Severity',
  domain: 'Domain',
  type: 'Type',
  alert: 'Alert',
  assignee: 'Assignee',
  mine: 'Mine',
  unassigned: 'Unassigned',
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
  showNew: (count: number) => (count === 1 ? 'Show 1 new issue' : `Show ${count} new issues`),
  selectedIssues: 'Selected issues',
  selected: (count: number) => `${count} selected`,
  acknowledge: 'Acknowledge',
  resolve: 'Resolve',
  reopen: 'Reopen',
  assign: 'Assign',
  you: '(you)',
  assignedCount: (count: number) => `${counted(count)} assigned.`,
  unassignedCount: (count: number) => `${counted(count)} unassigned.`,
  mute: 'Mute',
  clearSelection: 'Clear selection',
  muteDurations: DURATIONS,
  muteOneAtATime: 'Only one issue can be muted at a time.',
  done: {
    open: done('reopened'),
    acknowledged: done('acknowledged'),
    resolved: done('resolved'),
    muted: done('muted'),
  },
  noneTo: {
    open: 'No issues to reopen.',
    acknowledged: 'No issues to acknowledge.',
    resolved: 'No issues to resolve.',
    muted: 'No issues to mute.',
  },
  undone: (count: number) => `Undone: ${counted(count)} restored.`,
  noIssues: 'Nothing is wrong that Tagwarden knows of.',
  watching: (signals: string, alerts: string) => `Monitored by ${signals} and ${alerts}.`,
  signals: (count: number, isAll: boolean) => `${count}${isAll ? '' : '+'} ${count === 1 ? 'signal' : 'signals'}`,
  alerts: (count: number, isAll: boolean) => `${count}${isAll ? '' : '+'} ${count === 1 ? 'alert' : 'alerts'}`,
  noneMatch: 'No issues match these filters.',
  restrictedAction: 'Changing issues',
}
