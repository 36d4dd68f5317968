import { AppError, atField } from '../../../core/error.ts'
import { Closed, Int, Nullable, parser, Text, Type } from '../../../core/schema.ts'
import type { AddressGuard } from '../../../transport/address-guard.ts'

export interface JiraSettings {
  /** Base URL of Jira. It may contain a path. */
  url: string
  /** E-mail address of the token's owner. Absent for Data Center. */
  email?: string
  /** API token of the user with this e-mail address (Cloud) or personal access token (Data Center). */
  apiToken: string
  /** Key of the project in which tickets are created. */
  project: string
  /** Name of the issue type for new tickets. */
  issueType: string
  /** Additional fields of new tickets, in Jira's format. */
  fields?: Record<string, unknown>
  /** Polling interval. Null disables polling. */
  pollSeconds: number | null
}

/** Fields that Tagwarden sets on new tickets. Labels are merged instead. */
const RESERVED_FIELDS = ['project', 'issuetype', 'summary', 'description']
const MAX_FIELDS_LENGTH = 16_000
const DEFAULT_POLL_SECONDS = 300

export const JiraConfigSchema = Closed(
  {
    url: Text(1, 2000, {
      title: 'Jira URL',
      description: 'Base URL of Jira: `https://<site>.atlassian.net`, or the URL of a Data Center instance',
    }),
    email: Type.Optional(
      Text(3, 254, { title: 'E-mail address', description: 'Account that owns the API token; omit for Data Center' }),
    ),
    apiToken: Text(1, 2000, {
      title: 'API token',
      description: 'API token of that account (Cloud) or personal access token (Data Center)',
    }),
    project: Text(1, 255, { title: 'Project', description: 'Key of the project for new tickets', examples: ['OPS'] }),
    issueType: Type.Optional(
      Text(1, 255, {
        title: 'Issue type',
        description: 'Issue type of new tickets; default `Task`',
        examples: ['Task'],
      }),
    ),
    fields: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        title: 'Additional fields',
        description: "Additional fields of new tickets, in the format of Jira's REST API",
      }),
    ),
    pollSeconds: Type.Optional(
      Nullable(Int({ minimum: 30, maximum: 3600, default: DEFAULT_POLL_SECONDS }), {
        title: 'Polling interval',
        description: 'Interval at which ticket statuses are polled, in seconds; null: no polling',
      }),
    ),
  },
  { $id: 'IssueTrackerConfig' },
)

const parse = parser(JiraConfigSchema)
const invalid = (field: string, message: string) => new AppError('invalid', `config.${field}: ${message}`)

/** Validates and completes a configuration. Fails with `invalid`, naming the field. */
export function prepareJira(input: object, guard: AddressGuard): JiraSettings {
  const { issueType = 'Task', pollSeconds = DEFAULT_POLL_SECONDS, fields, email, ...rest } = parse(input, 'config')
  checkAddress(rest.url, guard)
  if (email !== undefined && !/^[^\s:@]+@[^\s:@]+$/.test(email)) throw invalid('email', 'must be an e-mail address')
  if (/[^\x21-\x7e]/.test(rest.apiToken))
    throw invalid('apiToken', 'must consist of printable ASCII characters without spaces')
  if (!isProjectKey(rest.project)) throw invalid('project', KEY_RULE)
  if (fields) checkFields(fields)
  return { ...rest, issueType, pollSeconds, ...(fields ? { fields } : {}), ...(email === undefined ? {} : { email }) }
}

function checkAddress(text: string, guard: AddressGuard): void {
  atField('config.url', () => guard.checkUrl(text))
  const { search, hash } = new URL(text)
  if (search || hash) throw invalid('url', 'must be the base URL of Jira, without a query or fragment')
}

function checkFields(fields: Record<string, unknown>): void {
  const reserved = RESERVED_FIELDS.find((name) => name in fields)
  if (reserved !== undefined) throw invalid(`fields.${reserved}`, 'is set by Tagwarden')
  const { labels = [] } = fields
  const areLabels = Array.isArray(labels) && labels.every((label) => typeof label === 'string' && /^\S+$/.test(label))
  if (!areLabels) throw invalid('fields.labels', 'must be a list of strings without spaces')
  if (JSON.stringify(fields).length > MAX_FIELDS_LENGTH)
    throw invalid('fields', `must have at most ${MAX_FIELDS_LENGTH} characters as JSON`)
}

const KEY_RULE = 'must be a project key of letters, digits and _, such as OPS'
const isProjectKey = (text: string) => /^[A-Z][A-Z0-9_]{0,254}$/i.test(text)

/** Checks the detail of a target, which is a project key. Fails with `invalid`. */
export function checkProject(detail: string): void {
  if (!isProjectKey(detail)) throw new AppError('invalid', `the part after the colon ${KEY_RULE}`)
}
