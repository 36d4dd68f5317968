import alertsGuide from '../../docs/use/alerts.md' with { type: 'text' }
import { permissionTable, TABLE_NOTE } from './roles-document.ts'

/**
 * Returns a document from `docs/use` for the API reference, without its title and with links to the documents on this
 * server.
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
  Organization: "The caller's organization and its settings",
  'Sign-in': 'Sign-in, sessions, passwords and invitations',
  Members: 'Members of the organization and their roles',
  Keys: 'API keys for programs',
  Projects: 'Groups of monitored properties',
  Stream: 'Changes in the organization in real time',
  Domains: 'Monitored properties, their tokens and hostnames',
  Alerts: `Rules for incoming events: how to write them, and ten examples to start with.\n\n${embedded(alertsGuide)}`,
  Signals: 'Automatic monitoring of the normal volume of every vendor and event, without rules',
  Issues: 'Detected problems and their status',
  Search: 'Search for anything by name',
  Forms: 'Fields of channels, integrations, alert types and insights, for rendering forms',
  Maintenance: 'Planned times in which notifications are withheld',
  Calendars: 'Holidays, on which traffic differs from that of other days',
  Integrations: 'Destinations of notifications',
  Notifications: 'Deliveries of notifications: messages, recipients and outcomes',
  Changes: 'Releases and changed settings, and their effect on the events',
  Insights: 'Queries of the collected events',
  Compliance: 'Personal data and consent in the data sent to vendors',
  Labels: 'Names given to events, for use in conditions, journeys and search',
  'Saved views': 'Filters of lists, saved under a name',
  'Flow tests': 'Recorded user journeys that are replayed in a browser, and the events that the tags sent',
  'Release gate': 'Recordings of releases, checked before users see them',
  Audits: 'Site crawls, and the tags that fired on each page',
  Shares: 'Public pages of flow test runs and audits',
  Orders: 'Shop orders, compared with the orders that tags reported',
  Events: 'Collected events',
  Usage: 'Number of collected events and their disk usage',
  Audit: 'Audit log of the organization',
  Server: 'Backups and collectors of the whole server, and what it sends',
  Health: 'Health checks and metrics for load balancers and monitoring',
}

/** Returns the introduction to the API documentation, in Markdown. */
export function introduction(): string {
  return `Watches the analytics and marketing tags of websites and apps. Guides are in the [documentation](/docs/index).

## Credentials

Send \`Authorization: Bearer <API key>\` or \`Bearer <session token>\`. Create a key in the settings or with
\`POST /v1/keys\`. \`GET /v1/whoami\` checks a credential. Users who belong to several organizations specify one in the
header \`X-Org-Id\`.

## Conventions

Request and response bodies are JSON. Times are in milliseconds since the Unix epoch, UTC. Names of percentages from 0
to 100 end in \`Pct\`, of shares from 0 to 1 in \`Share\`, and of milliseconds in \`Ms\`. Lists accept \`limit\` (1 to 200,
default 50) and \`cursor\`, and return \`nextCursor\`, which is null at the end. Unknown fields and query parameters are
rejected.

## Getting started

\`POST /v1/domains\` creates a property and the token for sending its events. \`POST /v1/alerts\` creates a
rule whose conditions describe what is *wrong*. **Alerts** explains the conditions, the \`volume\` of each type and the
channels, and contains ten alerts to copy. \`GET /v1/issues\` returns the problems that were found.

## Errors

Every error body is \`{"error": string}\`: one sentence that states what is wrong and where. Responses with status 429 or
503 contain in \`Retry-After\` the number of seconds to wait before retrying.

## Roles

${permissionTable()}

${TABLE_NOTE}
`
}
