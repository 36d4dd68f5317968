import { AppError } from '../../../core/error.ts'
import { firstFew } from '../../../core/text.ts'
import { oneLine } from '../../message/one-line.ts'
import { DELIVERED, type Outcome } from '../../outcome.ts'
import { callJira, fetchOwnAccount, isMissing, type JiraContext } from './jira-client.ts'

/** What we need to be allowed to do in the project. */
const RIGHTS = {
  BROWSE_PROJECTS: 'Browse Projects',
  CREATE_ISSUES: 'Create Issues',
  ADD_COMMENTS: 'Add Comments',
  TRANSITION_ISSUES: 'Transition Issues',
}
/** Jira fills these itself, or we do. */
const FILLED = ['project', 'issuetype', 'summary', 'description', 'labels', 'reporter']

const MAX_PAGES = 20
const PAGE = 100
/** Looked at of one list. */
const MAX_ITEMS = 1000

interface NewField {
  name: string
  required: boolean
  hasDefaultValue?: boolean
}
type Fields = ReadonlyMap<string, NewField>

/** Says if a ticket could be made, and makes none: token, project, rights, type, and the fields that have to be filled. */
export async function checkJira(context: JiraContext): Promise<Outcome> {
  await fetchOwnAccount(context)
  const { project } = context.settings
  const known = await askIfThere<{ issueTypes?: NamedType[] }>(context, `/project/${encodeURIComponent(project)}`)
  if (!known) throw refused(`there is no project ${project}, or this account may not see it (Browse Projects)`)
  await checkRights(context)
  const fields = await fieldsOfType(context)
  if (fields) checkFields(context, fields)
  else if (known.issueTypes) findType(context, known.issueTypes)
  return DELIVERED
}

/** Null where Jira has no such thing, or none that we may see. */
async function askIfThere<T>(context: JiraContext, path: string): Promise<T | null> {
  try {
    return await callJira<T>(context, 'GET', path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

const refused = (message: string) => new AppError('invalid', message)

async function checkRights(context: JiraContext): Promise<void> {
  const query = new URLSearchParams({ projectKey: context.settings.project, permissions: Object.keys(RIGHTS).join() })
  const answer = await askIfThere<{ permissions?: Record<string, { havePermission?: boolean }> }>(
    context,
    `/mypermissions?${query}`,
  )
  const permissions = answer?.permissions ?? {}
  const missing = Object.entries(RIGHTS).flatMap(([key, name]) =>
    permissions[key]?.havePermission === false ? [name] : [],
  )
  if (missing.length > 0) throw refused(`in ${context.settings.project} this account lacks: ${missing.join(', ')}`)
}

function checkFields({ settings: { issueType, project, fields = {} } }: JiraContext, known: Fields): void {
  const absent = ['labels', 'description'].filter((name) => !known.has(name))
  if (absent.length > 0) {
    throw refused(
      `the create screen of ${issueType} in ${project} lacks ${absent.join(' and ')}; Tagwarden needs them there`,
    )
  }
  const strange = Object.keys(fields).filter((name) => !known.has(name))
  if (strange.length > 0)
    throw refused(`config.fields: ${issueType} in ${project} has no ${firstFew(strange)} on its create screen`)
  const missing = [...known].filter(
    ([id, { required, hasDefaultValue }]) => required && !hasDefaultValue && !FILLED.includes(id) && !(id in fields),
  )
  if (missing.length === 0) return
  const names = missing.map(([id, { name }]) => `${oneLine(name, 60)} (${oneLine(id, 60)})`)
  throw refused(`${issueType} in ${project} has to have ${firstFew(names)}; give them in config.fields`)
}

interface NamedType {
  id?: unknown
  name?: unknown
}

/** The fields of the create screen, by id; null when Jira does not tell. */
async function fieldsOfType(context: JiraContext): Promise<Fields | null> {
  const path = `/issue/createmeta/${encodeURIComponent(context.settings.project)}/issuetypes`
  const types = await listOf(context, path, ['issueTypes', 'values'])
  // A Data Center before 8.4 knows one question for everything, which later ones do not answer.
  if (!types) return fieldsBefore84(context)
  const { id } = findType(context, types)
  const fields = await listOf(context, `${path}/${encodeURIComponent(String(id))}`, ['fields', 'values'])
  return fields && new Map(fields.map((field) => [String(field.fieldId ?? field.key), field as unknown as NewField]))
}

interface OldMeta {
  projects?: { issuetypes?: { name: string; fields?: Record<string, NewField> }[] }[]
}

async function fieldsBefore84(context: JiraContext): Promise<Fields | null> {
  const query = new URLSearchParams({ projectKeys: context.settings.project, expand: 'projects.issuetypes.fields' })
  const meta = await askIfThere<OldMeta>(context, `/issue/createmeta?${query}`)
  if (!meta) return null
  const types = (meta.projects ?? []).flatMap(({ issuetypes = [] }) => issuetypes)
  return new Map(Object.entries(findType(context, types).fields ?? {}))
}

/** Fails with `invalid` when the configured type is not among them, naming those that are. */
function findType<T extends NamedType>({ settings: { issueType, project } }: JiraContext, all: readonly T[]): T {
  const types = all.slice(0, MAX_ITEMS)
  const type = types.find(({ name }) => name === issueType)
  if (type) return type
  const names = types.map(({ name }) => oneLine(String(name), 60))
  throw refused(
    `${project} has no issue type ${issueType} that this account may create; it has ${firstFew(names) || 'none'}`,
  )
}

/** All of a list that comes in pages, which Cloud and Data Center name differently; null where there is no such list. */
async function listOf(
  context: JiraContext,
  path: string,
  names: readonly string[],
): Promise<Record<string, unknown>[] | null> {
  const all: Record<string, unknown>[] = []
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const where = `${path}?startAt=${all.length}&maxResults=${PAGE}`
    const page = await askIfThere<Record<string, unknown>>(context, where)
    if (!page) return null
    const items = (names.map((name) => page[name]).find(Array.isArray) ?? []).slice(0, MAX_ITEMS)
    all.push(...items)
    const isLast = page.isLast ?? all.length >= Number(page.total ?? 0)
    if (isLast || items.length === 0) break
  }
  return all
}
