/** `/`: the verdict and the cards below it. */
export const overview = {
  verdict: 'Verdict',
  attention: 'Needs attention',
  volumeTitle: 'Volume against expectation',
  scores: 'Scores',
  scoreHelp: 'Meaning of the score',
  changes: 'Latest changes',
  value: 'Value protected',
  critical: (problems: number, bad: number, all: number) =>
    `${problems === 1 ? '1 critical problem' : `${problems} critical problems`} on ${bad} of ${domains(all)}`,
  high: (problems: number, bad: number, all: number) =>
    `${problems === 1 ? '1 serious problem' : `${problems} serious problems`} on ${bad} of ${domains(all)}`,
  silent: (count: number) => (count === 1 ? '1 domain has gone silent' : `${count} domains have gone silent`),
  small: (count: number) =>
    count === 1 ? 'Nothing urgent. 1 minor issue is open.' : `Nothing urgent. ${count} minor issues are open.`,
  learning: 'Signals are still learning. Alerts are active.',
  readyBy: 'Ready by',
  empty: 'This project has no domains.',
  toProjects: 'Edit projects',
  allGood: (signals: number) =>
    signals === 1
      ? 'All good. 1 signal is within its expected range.'
      : `All good. ${signals} signals are within their expected ranges.`,
  allGoodNoSignals: 'All good. No known problems.',
  waiting: 'Waiting for the first event',
  behind: 'Event processing is delayed, so the numbers below are incomplete.',
  started: 'Started',
  lastEvent: 'Last event',
  moreOpen: (count: number) => (count === 1 ? '1 more issue is open.' : `${count} more issues are open.`),
  likelyCause: 'Likely cause:',
  openIssue: 'Open the issue',
  whatChanged: 'What changed',
  openDomain: 'Open domain',
  allIssues: (count: number) => (count === 1 ? 'View open issue' : `All ${count} open issues`),
  oneCause: (count: number) => `${count} issues, one likely cause`,
  noAlerts: 'Signals already monitor volume. Add an alert for anything that must never happen:',
  noAlertsYet: 'Signals already monitor volume. No alerts yet.',
  templates: {
    stopped: 'A conversion stopped',
    blank: 'A parameter is blank',
    personal: 'Personal data is sent',
  },
  noOpenIssues: 'No open issues.',
  unit: {
    minute: 'events per minute',
    five_minutes: 'events per 5 minutes',
    hour: 'events per hour',
    day: 'events per day',
  },
  summary: (domain: string | null, last: string) => `Events from ${domain ?? 'all domains'}. ${last}`,
  lastInterval: (observed: string, expected: string) =>
    `In the last complete interval, ${observed === '1' ? '1 event was' : `${observed} events were`} received and ${expected} were expected.`,
  noExpectation: 'The expected range is still being learned.',
  domain: 'Domain',
  allDomains: 'All domains',
  noVolume: 'No events in this time range.',
  score: { availability: 'Availability', accuracy: 'Accuracy', compliance: 'Compliance' },
  compareReleases: 'Compare releases',
  noChanges: 'No releases or container versions yet.',
  resolved: 'resolved in 30 days',
  open: 'open',
  noValue: 'No alert has a value yet. Set values to see what problems cost.',
  first: {
    title: 'Monitor your first website',
    text: 'Add a domain, paste one line of code, and see its tags within a minute.',
    add: 'Add a domain',
  },
}

function domains(count: number): string {
  return count === 1 ? '1 domain' : `${count} domains`
}
