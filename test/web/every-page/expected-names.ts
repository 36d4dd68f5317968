/*
 * Roles and names by which people and scripts find elements on each page, written as `role Name`. The role `field`
 * matches a text field, select, number field or switch. Matching ignores case. In the page, a comma and a count may
 * follow the name.
 */

/** Elements on every page for signed-in users, in a wide window. */
export const EVERYWHERE = [
  'banner',
  'navigation Main',
  'main',
  'link Skip to content',
  ...['Overview', 'Issues', 'Alerts', 'Signals', 'Domains', 'Explore', 'Changes', 'Compare', 'Compliance', 'Tests'].map(
    link,
  ),
  ...['Integrations', 'Deliveries'].map(link),
  'button Search',
  'field Project',
  'field Time range',
  'button Account',
]

/** Elements on every page for signed-in users, in a narrow window. */
export const ON_PHONES = [
  'banner',
  'main',
  'link Skip to content',
  'button Menu',
  'button Search',
  'field Project',
  'field Time range',
  'button Account',
]

const DOMAIN = ['Set-up', 'Live', 'Hostnames', 'Vendors', 'Sampling', 'Settings'].map(link)

/** Elements of the alert form. */
const ALERT = [
  ...['Name', 'Type', 'Domain', 'Vendor', 'Event', 'Parameter 1', 'Operator 1', 'Values 1', 'Period'].map(field),
  ...['Severity', 'Value', 'Channel 1', 'Target 1'].map(field),
  'button Add a condition',
  'button Add a channel',
  'button Cancel',
  'region What would have happened',
]

/** Elements on each page by path. `{id}` matches the id of any item. */
export const PAGES: Record<string, readonly string[]> = {
  '/': [
    'heading Overview',
    'region Verdict',
    'link Open the issue',
    'link What changed',
    'region Needs attention',
    'region Volume against expectation',
    'region Scores',
    'region Latest changes',
    'region Value protected',
  ],
  '/issues': [
    'heading Issues',
    'table Issues',
    ...['Search', 'Status', 'Severity', 'Domain', 'Type', 'Sort by'].map(field),
  ],
  '/issues/{id}': [
    'button Acknowledge',
    'button Resolve',
    'button Mute',
    'button Copy link',
    'button Copy as Markdown',
    'figure Expected against observed',
    'table Violating vs. valid event',
    'list What happened',
    'field Note',
  ],
  '/alerts': [
    'heading Alerts',
    'table Alerts',
    'link New alert',
    'button Import',
    'button Export',
    'region Suggested rules',
  ],
  '/alerts/new': [
    'heading New alert',
    ...ALERT,
    'field Start from',
    'button Save as disabled',
    'button Save and enable',
  ],
  '/alerts/{id}': ALERT,
  '/signals': [
    'heading Signals',
    'table Signals',
    'field Sensitivity of Google Analytics 4 page_view',
    'field Mode of Google Analytics 4 page_view',
  ],
  '/domains': ['heading Domains', 'table Domains', 'link Add a domain'],
  '/domains/new': ['heading Add a domain', 'field Name', 'button Add'],
  '/domains/{id}': [...DOMAIN, 'region Open issues', 'region Scores', 'region Vendors', 'region Latest release'],
  '/domains/{id}/setup': [...DOMAIN, 'field head.html', 'button Copy the code'],
  '/domains/{id}/live': [...DOMAIN, 'table Events'],
  '/explore/dictionary': ['heading Dictionary', 'table Dictionary'],
  '/explore/events': ['heading Events', 'table Events'],
  '/explore/journeys': ['heading Journeys', 'table Journeys', 'figure Where sessions go'],
  '/explore/performance': ['heading Tag performance', 'table Tag performance'],
  '/explore/execution': ['heading Execution', 'table Execution'],
  '/explore/orders': ['heading Orders', 'table Orders'],
  '/explore/sessions/{id}': ['heading Session', 'list Path'],
  '/changes': ['heading Changes', 'list Changes'],
  '/changes/{id}': ['table Findings', 'link Compare before and after'],
  '/gate': ['heading Release gate', 'link How to set up the gate', 'table Release gate'],
  '/gate/{id}': ['heading checkout release-42', 'table Problems', 'table Checks', 'link the approved run'],
  '/compare': ['heading Compare', 'field Compare', 'field Domain'],
  '/compliance': ['heading Compliance', 'list Findings', 'button File an issue', 'button Ignore'],
  '/compliance/before-consent': ['heading Before consent', 'field Domain', 'table Before consent'],
  '/tests': ['heading Tests', 'table Tests'],
  '/tests/new': ['heading New test'],
  '/audits': ['heading Audits'],
  '/audits/new': ['heading New audit'],
  '/integrations': ['heading Integrations', 'link Connect'],
  '/integrations/new': ['heading Connect', 'field Provider'],
  '/deliveries': ['heading Deliveries', 'table Deliveries', 'region Inbox'],
  '/deliveries/{id}': ['list Attempts', 'button Replay'],
  '/report': ['heading Weekly report', 'button Print'],
  '/settings/organization': ['heading Organization', 'field Name', 'field Currency', 'button Save'],
  '/settings/projects': ['heading Projects'],
  '/settings/maintenance': ['heading Maintenance', 'button Add window'],
  '/settings/calendars': ['heading Calendars', 'button Add calendar'],
  '/settings/members': ['heading Members', 'button Invite a member'],
  '/settings/keys': ['heading API keys', 'table API keys'],
  '/settings/escalation': ['heading Escalation', 'button Add a step', 'button Save'],
  '/settings/digest': ['heading Digest', 'field Send me the digest'],
  '/settings/usage': ['heading Usage'],
  '/settings/backups': ['heading Backups', 'button Back up now'],
  '/settings/collectors': ['heading Collectors'],
  '/settings/audit-log': ['heading Audit log'],
  '/settings/preferences': ['heading Preferences', 'field Theme', 'field Time zone', 'field Single-key shortcuts'],
}

function link(name: string): string {
  return `link ${name}`
}

function field(name: string): string {
  return `field ${name}`
}
