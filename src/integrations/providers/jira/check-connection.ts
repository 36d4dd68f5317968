import { AppError } from '../../../core/error.ts'
import { firstFew, oneLine } from '../../../core/text.ts'
import { DELIVERED, type Outcome } from '../../delivery-outcome.ts'
import { callJira, fetchOwnAccount, isMissing, type JiraContext } from './jira-client.ts'

/** Project permissions that the account requires. */
const REQUIRED_PERMISSIONS = {
  BROWSE_PROJECTS: 'Browse Projects',
  CREATE_ISSUES: 'Create Issues',
  ADD_COMMENTS: 'Add Comments',
  TRANSITION_ISSUES: 'Transition Issues',
}
/** Fields that Jira or Tagwarden fills. */
const PREFILLED_FIELDS = ['project', 'issuetype', 'summary', 'description', 'labels', 'reporter']

const MAX_PAGES = 20
const PAGE = 100
/** Maximum number of items used from one list. */
const MAX_ITEMS = 1000

interface NewField {
  name: string
  required: boolean
  hasDefaultValue?: boolean
}
type Fields = ReadonlyMap<string, NewField>

/**
 * Checks that a ticket could be created, without creating one. Checks the token, project, permissions, issue type and
 * required fields. Fails with `invalid` if a check fails.
 */
export async function checkJira(context: JiraContext): Promise<Outcome> {
  await fetchOwnAccount(context)
  const { project } = context.settings
  const known = await callIfFound<{ issueTypes?: NamedType[] }>(context, `/project/${encodeURIComponent(project)}`)
  if (!known) throw refused(`project ${project} does not exist, or this account lacks the Browse Projects permission`)
  await checkPermissions(context)
  const fields = await fieldsOfType(context)
  if (fields) checkFields(context, fields)
  else if (known.issueTypes) findType(context, known.issueTypes)
  return DELIVERED
}

/** Makes a GET request. Returns null on a 404. */
async function callIfFound<T>(context: JiraContext, path: string): Promise<T | null> {
  try {
    return await callJira<T>(context, 'GET', path)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

const refused = (message: string) => new AppError('invalid', message)

async function checkPermissions(context: JiraContext): Promise<void> {
  const query = new URLSearchParams({
    projectKey: context.settings.project,
    permissions: Object.keys(REQUIRED_PERMISSIONS).join(),
  })
  const answer = await callIfFound<{ permissions?: Record<string, { havePermission?: boolean }> }>(
    context,
    `/mypermissions?${query}`,
  )
  const permissions = answer?.permissions ?? {}
  const missing = Object.entries(REQUIRED_PERMISSIONS).flatMap(([key, name]) =>
    permissions[key]?.havePermission === false ? [name] : [],
  )
  if (missing.length > 0)
    throw refused(`this account lacks permissions in ${context.settings.project}: ${missing.join(', ')}`)
}

function checkFields({ settings: { issueType, project, fields = {} } }: JiraContext, known: Fields): void {
  const missingFields = ['labels', 'description'].filter((name) => !known.has(name))
  if (missingFields.length > 0) {
    throw refused(`the create screen of ${issueType} in ${project} lacks these fields: ${missingFields.join(', ')}`)
  }
  const unknown = Object.keys(fields).filter((name) => !known.has(name))
  if (unknown.length > 0)
    throw refused(`config.fields: ${issueType} in ${project} does not have ${firstFew(unknown)} on its create screen`)
  const missing = [...known].filter(
    ([id, { required, hasDefaultValue }]) =>
      required && !hasDefaultValue && !PREFILLED_FIELDS.includes(id) && !(id in fields),
  )
  if (missing.length === 0) return
  const names = missing.map(([id, { name }]) => `${oneLine(name, 60)} (${oneLine(id, 60)})`)
  throw refused(`config.fields: ${issueType} in ${project} requires ${firstFew(names)}`)
}

interface NamedType {
  id?: unknown
  name?: unknown
}

/** Fields of the create screen, by id. Null if Jira does not return them. */
async function fieldsOfType(context: JiraContext): Promise<Fields | null> {
  const path = `/issue/createmeta/${encodeURIComponent(context.settings.project)}/issuetypes`
  const types = await listOf(context, path, ['issueTypes', 'values'])
  // Data Center before 8.4 has a single endpoint, which later versions no longer have.
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
  const meta = await callIfFound<OldMeta>(context, `/issue/createmeta?${query}`)
  if (!meta) return null
  const types = (meta.projects ?? []).flatMap(({ issuetypes = [] }) => issuetypes)
  return new Map(Object.entries(findType(context, types).fields ?? {}))
}

/** Returns the configured issue type. If it does not exist, fails with `invalid` and lists the available types. */
function findType<T extends NamedType>({ settings: { issueType, project } }: JiraContext, all: readonly T[]): T {
  const types = all.slice(0, MAX_ITEMS)
  const type = types.find(({ name }) => name === issueType)
  if (type) return type
  const names = types.map(({ name }) => oneLine(String(name), 60))
  throw refused(
    `this account can't create issues of type ${issueType} in ${project}; available: ${firstFew(names) || 'none'}`,
  )
}

/** Reads all pages of a list. The name of the list field differs between Cloud and Data Center. Null on a 404. */
async function listOf(
  context: JiraContext,
  path: string,
  names: readonly string[],
): Promise<Record<string, unknown>[] | null> {
  const all: Record<string, unknown>[] = []
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const url = `${path}?startAt=${all.length}&maxResults=${PAGE}`
    const page = await callIfFound<Record<string, unknown>>(context, url)
    if (!page) return null
    const items = (names.map((name) => page[name]).find(Array.isArray) ?? []).slice(0, MAX_ITEMS)
    all.push(...items)
    const isLast = page.isLast ?? all.length >= Number(page.total ?? 0)
    if (isLast || items.length === 0) break
  }
  return all
}
