import alertsGuide from '../../docs/use/alerts.md' with { type: 'text' }
import { permissionTable, TABLE_NOTE } from './roles-document.ts'

/**
 * Returns a document of `docs/use` for the API reference: without its title, and with links to the served documents.
 */
const embedded = (document: string) =>
  document
    .replace(/^# .*\n+/, '')
    .replace(
      /(?<=\]\()(?!https:|\/)([^)#]+)\.md/g,
      (_, path: string) => new URL(path, 'http://docs.invalid/docs/use/').pathname,
    )

/** Descriptions of the tags, in display order. */
export const TAGS: Readonly<Record<string, string>> = {
  Organization: 'The organization that a request acts in, its members and its settings',
  'Sign-in': 'Sessions for people: sign-in, passwords and invitations',
  Members: 'People of the organization and their roles',
  Keys: 'API keys for programs',
  Projects: 'Groups of monitored properties',
  Stream: 'Changes in the organization as they happen',
  Domains: 'Monitored properties, their tokens and hostnames',
  Alerts: `Rules over what arrives: the language, and ten to begin with.\n\n${embedded(alertsGuide)}`,
  Signals: 'The normal volume of every vendor and event, monitored without a rule',
  Issues: 'Problems found by alerts, and their state',
  Search: 'Everything by name',
  Forms: 'Fields of channels, integrations, alert types and insights, for rendering forms',
  Integrations: 'Where notifications go',
  Notifications: 'Deliveries: messages, recipients and outcomes',
  Changes: 'Releases and settings, and what they did to the events',
  Insights: 'Queries of the collected events',
  Compliance: 'Personal data and consent in what was sent',
  Labels: 'Names for events, for conditions, journeys and search',
  'Flow tests': 'Recorded paths that are walked in a browser, and what their tags sent',
  Audits: 'Crawls of a site, and which tags fired on each of its pages',
  Shares: 'Public pages of runs of flow tests and of audits',
  Orders: 'Orders of a shop, compared with those its tags reported',
  Events: 'The collected events themselves',
  Usage: 'How much was collected',
  Audit: 'Audit log of the organization',
  Health: 'For load balancers and monitoring',
}

/** Returns the introduction to the API documentation, in Markdown. */
export function introduction(): string {
  return `Watches the analytics and marketing tags of websites and apps. Guides are in the [documentation](/docs/index).

## Credentials

\`Authorization: Bearer <API key>\` or \`Bearer <session token>\`. Make a key on the first page or with
\`POST /v1/keys\`. \`GET /v1/whoami\` tells whether it works. Whoever belongs to several organizations names one in the
header \`X-Org-Id\`.

## Conventions

Bodies and answers are JSON. Times are milliseconds since the Unix epoch, UTC. Percentages from 0 to 100 end in \`Pct\`,
shares from 0 to 1 in \`Share\`, milliseconds in \`Ms\`. Lists take \`limit\` (1 to 200, default 50) and \`cursor\`, and
answer \`nextCursor\`: null at the end. Fields and query parameters that are not described are refused.

## Where to begin

\`POST /v1/domains\` makes a property and its token, with which tags send. \`POST /v1/alerts\` makes a rule: its
conditions say what is *wrong*. Under **Alerts** stand the language of conditions, which \`volume\` fits which type, who
can be told, and ten alerts to paste. \`GET /v1/issues\` answers what was found.

## Errors

Every error body is \`{"error": string}\`, one sentence that says what is wrong and where. Answers with 429 and 503 say
in \`Retry-After\` after how many seconds a repeat may succeed.

## Roles

${permissionTable()}

${TABLE_NOTE}
`
}
