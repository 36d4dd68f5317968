import { PAGE_PATHS, type PagePath } from '../../../src/contract/page-paths.ts'
import { english } from '../../../src/web/messages.ts'

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

/** Headings of pages that are named by their tab. */
const HEADINGS: Partial<Record<PagePath, string>> = {
  ...headingsOf(PAGE_PATHS.settings, english.settings.pages),
  ...headingsOf(PAGE_PATHS.explore, english.explore.pages),
}

/** Returns the elements of the page with this path. Every page has a heading. */
export const namesOn = (path: PagePath): readonly string[] => [
  `heading ${HEADINGS[path] ?? ''}`.trim(),
  ...(PAGES[path] ?? []),
]

/** Further elements of pages, by path. */
const PAGES: Partial<Record<PagePath, readonly string[]>> = {
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
  '/issues/$id': [
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
  '/alerts/$id': ALERT,
  '/signals': [
    'heading Signals',
    'table Signals',
    'field Sensitivity of Google Analytics 4 page_view',
    'field Mode of Google Analytics 4 page_view',
  ],
  '/domains': ['heading Domains', 'table Domains', 'link Add a domain'],
  '/domains/new': ['heading Add a domain', 'field Name', 'button Add'],
  '/domains/$id': [...DOMAIN, 'region Open issues', 'region Scores', 'region Vendors', 'region Latest release'],
  '/domains/$id/setup': [...DOMAIN, 'field head.html', 'button Copy the code'],
  '/domains/$id/live': [...DOMAIN, 'table Events'],
  '/explore/dictionary': ['table Dictionary'],
  '/explore/events': ['table Events'],
  '/explore/journeys': ['table Journeys', 'figure Where sessions go'],
  '/explore/performance': ['table Tag performance'],
  '/explore/execution': ['table Execution'],
  '/explore/orders': ['table Orders'],
  '/explore/sessions/$id': ['heading Session', 'list Path'],
  '/changes': ['heading Changes', 'list Changes'],
  '/changes/$id': ['table Findings', 'link Compare before and after'],
  '/gate': ['heading Release gate', 'link How to set up the gate', 'table Release gate'],
  '/gate/$id': ['heading checkout release-42', 'table Problems', 'table Checks', 'link the approved run'],
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
  '/deliveries/$id': ['list Attempts', 'button Replay'],
  '/report': ['heading Weekly report', 'button Print'],
  '/settings/organization': ['field Name', 'field Currency', 'button Save'],
  '/settings/maintenance': ['button Add window'],
  '/settings/calendars': ['button Add calendar'],
  '/settings/members': ['button Invite a member'],
  '/settings/keys': ['table API keys'],
  '/settings/escalation': ['button Add a step', 'button Save'],
  '/settings/digest': ['field Send me the digest'],
  '/settings/backups': ['button Back up now'],
  '/settings/preferences': ['field Theme', 'field Time zone', 'field Single-key shortcuts'],
}

function headingsOf(paths: Readonly<Record<string, PagePath>>, titles: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(paths).flatMap(([name, path]) => (titles[name] ? [[path, titles[name]]] : [])),
  )
}

function link(name: string): string {
  return `link ${name}`
}

function field(name: string): string {
  return `field ${name}`
}
