/** `/`: the verdict and the cards below it. */
export const overview = {
  verdict: 'Verdict',
  attention: 'Needs attention',
  volumeTitle: 'Volume against expectation',
  scores: 'Scores',
  scoreHelp: 'What a score is',
  changes: 'Latest changes',
  value: 'Value protected',
  critical: (problems: number, bad: number, all: number) =>
    `${problems === 1 ? '1 critical problem' : `${problems} critical problems`} on ${bad} of ${domains(all)}`,
  high: (problems: number, bad: number, all: number) =>
    `${problems === 1 ? '1 serious problem' : `${problems} serious problems`} on ${bad} of ${domains(all)}`,
  problems: (problems: number) => (problems === 1 ? '1 problem needs you' : `${problems} problems need you`),
  silent: (count: number) => (count === 1 ? 'A domain has gone silent' : `${count} domains have gone silent`),
  small: (count: number) =>
    count === 1 ? 'Nothing urgent. 1 small issue is open.' : `Nothing urgent. ${count} small issues are open.`,
  learning: 'Watching. Signals are still learning; rules work now.',
  learnedBy: 'They have learnt by',
  empty: 'This project has no domain.',
  toProjects: 'To the projects',
  well: (signals: number) =>
    signals === 1
      ? 'All well. 1 signal is within expectation.'
      : `All well. ${signals} signals are within expectation.`,
  wellWithout: 'All well. Nothing is wrong that Tagwarden knows of.',
  waiting: 'Waiting for the first event',
  behind: 'Tagwarden is behind with storing. Do not trust the numbers below.',
  since: 'Began',
  lastEvent: 'Last event',
  more: (count: number) => (count === 1 ? '1 more issue is open.' : `${count} more issues are open.`),
  likelyCause: 'Likely cause:',
  openIssue: 'Open the issue',
  whatChanged: 'What changed',
  openDomain: 'Open the domain',
  allIssues: (count: number) => (count === 1 ? 'The open issue' : `All ${count} open issues`),
  oneCause: (count: number) => `${count} issues, one likely cause`,
  noAlerts: 'Signals watch the volume already. Add an alert for what must never happen:',
  noAlertsYet: 'Signals watch the volume already. There is no alert yet.',
  templates: {
    stopped: 'A conversion stopped',
    blank: 'A parameter is blank',
    personal: 'Personal data is sent',
  },
  noneOpen: 'Nothing needs you.',
  unit: {
    minute: 'events per minute',
    five_minutes: 'events per 5 minutes',
    hour: 'events per hour',
    day: 'events per day',
  },
  summary: (domain: string | null, last: string) => `Events of ${domain ?? 'all domains'}. ${last}`,
  lastIs: (observed: string, expected: string) =>
    `At the last whole point ${observed} arrived, where ${expected} were expected.`,
  noExpectation: 'The expected range is still being learned.',
  domain: 'Domain',
  allDomains: 'All domains',
  noVolume: 'No events in this time range.',
  score: { availability: 'Availability', accuracy: 'Accuracy', compliance: 'Compliance' },
  noChanges: 'No release or container version was seen yet.',
  allChanges: 'All changes',
  resolved: 'resolved in 30 days',
  open: 'open',
  noValue: 'No alert has a value yet. Give one to see what trouble costs.',
  first: {
    title: 'Watch your first website',
    text: 'Add a domain, paste one line of code, and see its tags within a minute.',
    add: 'Add a domain',
  },
}

function domains(count: number): string {
  return count === 1 ? '1 domain' : `${count} domains`
}
