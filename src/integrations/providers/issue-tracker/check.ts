import { AppError } from '../../../core/error.ts'
import { firstFew } from '../../../core/text.ts'
import { oneLine } from '../../one-line.ts'
import type { Outcome } from '../../reply.ts'
import { ask, askWhoWeAre, isCloud, isMissing, type Jira } from './jira.ts'

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

interface NewField {
  name: string
  required: boolean
  hasDefaultValue?: boolean
}
type Fields = ReadonlyMap<string, NewField>

/** Says if a ticket could be made, and makes none: token, project, rights, type, and the fields that have to be filled. */
export async function checkJira(context: Jira): Promise<Outcome> {
  await askWhoWeAre(context)
  const { project } = context.settings
  try {
    await ask(context, 'GET', `/project/${encodeURIComponent(project)}`)
  } catch (error) {
    if (!isMissing(error)) throw error
    throw refused(`there is no project ${project}, or this account may not see it (Browse Projects)`)
  }
  await checkRights(context)
  checkFields(context, await fieldsOfType(context))
  return { verdict: 'delivered', note: null }
}

const refused = (message: string) => new AppError('invalid', message)

async function checkRights(context: Jira): Promise<void> {
  const query = new URLSearchParams({ projectKey: context.settings.project, permissions: Object.keys(RIGHTS).join() })
  const { permissions = {} } = await ask<{ permissions?: Record<string, { havePermission?: boolean }> }>(
    context,
    'GET',
    `/mypermissions?${query}`,
  )
  const missing = Object.entries(RIGHTS).flatMap(([key, name]) =>
    permissions[key]?.havePermission === false ? [name] : [],
  )
  if (missing.length > 0) throw refused(`in ${context.settings.project} this account lacks: ${missing.join(', ')}`)
}

function checkFields({ settings: { issueType, project, fields = {} } }: Jira, known: Fields): void {
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

/** The fields of the create screen, by id. */
async function fieldsOfType(context: Jira): Promise<Fields> {
  const path = `/issue/createmeta/${encodeURIComponent(context.settings.project)}/issuetypes`
  let types: Record<string, unknown>[]
  try {
    types = await listOf(context, path, ['issueTypes', 'values'])
  } catch (error) {
    // A Data Center before 8.4 knows one question for everything, which later ones do not answer.
    if (!isMissing(error) || isCloud(context)) throw error
    return fieldsBefore84(context)
  }
  const type = types[indexOfType(context, types)]
  const fields = await listOf(context, `${path}/${encodeURIComponent(String(type?.id))}`, ['fields', 'values'])
  return new Map(fields.map((field) => [String(field.fieldId ?? field.key), field as unknown as NewField]))
}

interface OldMeta {
  projects?: { issuetypes?: { name: string; fields?: Record<string, NewField> }[] }[]
}

async function fieldsBefore84(context: Jira): Promise<Fields> {
  const query = new URLSearchParams({ projectKeys: context.settings.project, expand: 'projects.issuetypes.fields' })
  const { projects = [] } = await ask<OldMeta>(context, 'GET', `/issue/createmeta?${query}`)
  const types = projects.flatMap(({ issuetypes = [] }) => issuetypes)
  return new Map(Object.entries(types[indexOfType(context, types)]?.fields ?? {}))
}

function indexOfType({ settings: { issueType, project } }: Jira, types: readonly { name?: unknown }[]): number {
  const index = types.findIndex(({ name }) => name === issueType)
  if (index >= 0) return index
  const names = types.map(({ name }) => oneLine(String(name), 60))
  throw refused(
    `${project} has no issue type ${issueType} that this account may create; it has ${firstFew(names) || 'none'}`,
  )
}

/** All of a list that comes in pages; Cloud and Data Center name it differently. */
async function listOf(context: Jira, path: string, names: readonly string[]): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = []
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await ask<Record<string, unknown>>(context, 'GET', `${path}?startAt=${all.length}&maxResults=${PAGE}`)
    const items = names.map((name) => page[name]).find(Array.isArray) ?? []
    all.push(...items)
    const isLast = page.isLast ?? all.length >= Number(page.total ?? 0)
    if (isLast || items.length === 0) break
  }
  return all
}
