import { AppError, atField } from '../../../core/error.ts'
import { Closed, Int, Nullable, parser, Text, Type } from '../../../core/schema.ts'
import type { AddressGuard } from '../../transport/address-guard.ts'

export interface JiraSettings {
  /** Where Jira is, a path behind its host included. */
  url: string
  /** Whose token it is; absent: it is a Data Center. */
  email?: string
  /** Of Cloud the API token of that user, of a Data Center a personal access token. */
  apiToken: string
  /** Key of the project in which tickets are made. */
  project: string
  /** Name of their type. */
  issueType: string
  /** Further fields of a new ticket, as Jira takes them. */
  fields?: Record<string, unknown>
  /** Null: nobody asks Jira how tickets stand. */
  pollSeconds: number | null
}

/** What we say of a new ticket ourselves; labels are joined with ours. */
const OUR_FIELDS = ['project', 'issuetype', 'summary', 'description']
const MAX_FIELDS_LENGTH = 16_000
const DEFAULT_POLL_SECONDS = 300

export const JiraConfigSchema = Closed(
  {
    url: Text(1, 2000, {
      title: 'Address of Jira',
      description: 'Where Jira is: https://<site>.atlassian.net, or that of a Data Center',
    }),
    email: Type.Optional(
      Text(3, 254, { title: 'E-mail address', description: 'Of whose account the token is; left out: a Data Center' }),
    ),
    apiToken: Text(1, 2000, {
      title: 'API token',
      description: 'Of Cloud an API token of that account, of a Data Center a personal access token',
    }),
    project: Text(1, 255, { title: 'Project', description: 'Key of the project', examples: ['OPS'] }),
    issueType: Type.Optional(
      Text(1, 255, { title: 'Type', description: 'Name of the type; Task when left out', examples: ['Task'] }),
    ),
    fields: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        title: 'Further fields',
        description: 'Further fields of new tickets, as Jira takes them',
      }),
    ),
    pollSeconds: Type.Optional(
      Nullable(Int({ minimum: 30, maximum: 3600, default: DEFAULT_POLL_SECONDS }), {
        title: 'Ask every',
        description: 'How often Jira is asked how tickets stand; null: never',
      }),
    ),
  },
  { $id: 'IssueTrackerConfig' },
)

const parse = parser(JiraConfigSchema)
const invalid = (field: string, message: string) => new AppError('invalid', `config.${field}: ${message}`)

/** Completes what was configured. Fails with `invalid`, naming the field. */
export function prepareJira(input: object, guard: AddressGuard): JiraSettings {
  const { issueType = 'Task', pollSeconds = DEFAULT_POLL_SECONDS, fields, email, ...rest } = parse(input, 'config')
  checkAddress(rest.url, guard)
  if (email !== undefined && !/^[^\s:@]+@[^\s:@]+$/.test(email)) throw invalid('email', 'must be an e-mail address')
  if (/[^\x21-\x7e]/.test(rest.apiToken)) throw invalid('apiToken', 'must be letters, digits and signs without spaces')
  if (!isProjectKey(rest.project)) throw invalid('project', NO_KEY)
  if (fields) checkFields(fields)
  return { ...rest, issueType, pollSeconds, ...(fields ? { fields } : {}), ...(email === undefined ? {} : { email }) }
}

function checkAddress(text: string, guard: AddressGuard): void {
  atField('config.url', () => guard.checkUrl(text))
  const { search, hash } = new URL(text)
  if (search || hash) throw invalid('url', 'must be the address of Jira alone, without ? and #')
}

function checkFields(fields: Record<string, unknown>): void {
  const taken = OUR_FIELDS.find((name) => name in fields)
  if (taken !== undefined) throw invalid(`fields.${taken}`, 'is filled by Tagwarden')
  const { labels = [] } = fields
  const areLabels = Array.isArray(labels) && labels.every((label) => typeof label === 'string' && /^\S+$/.test(label))
  if (!areLabels) throw invalid('fields.labels', 'must be a list of texts without spaces')
  if (JSON.stringify(fields).length > MAX_FIELDS_LENGTH)
    throw invalid('fields', `must be below ${MAX_FIELDS_LENGTH} characters`)
}

const NO_KEY = 'must be the key of a project: letters, digits and _, as in OPS'
const isProjectKey = (text: string) => /^[A-Z][A-Z0-9_]{0,254}$/i.test(text)

/** Refuses with `invalid` what can't be the key of a project. */
export function checkProject(detail: string): void {
  if (!isProjectKey(detail)) throw new AppError('invalid', `what stands behind the colon ${NO_KEY}`)
}
