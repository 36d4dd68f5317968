import { AppError } from '../../../core/error.ts'
import type { Deployed, DeployInput } from './deploy-schemas.ts'
import {
  DESIRED_TRIGGER,
  desiredTag,
  desiredTemplate,
  OUR_NAME,
  RESERVED_REPORT_KEYS,
  withDesired,
  withReportMetadata,
} from './desired-entities.ts'
import type { Progress } from './progress.ts'
import type { TagManagerApi } from './tag-manager-api.ts'
import {
  containerIdOf,
  type Tag,
  type Template,
  type Trigger,
  tagTypeOf,
  type Variable,
  type Workspace,
} from './tag-manager-entities.ts'
import { ensureWorkspace, liveVersionOf, syncWorkspace } from './workspace.ts'

/** What was made for one deployment, over all attempts at it: a later one finds it, and it is new all the same. */
export interface CreatedEntities {
  workspace?: boolean
  template?: 'new' | 'updated'
  tag?: 'new'
}

export interface DeployDeps {
  api: TagManagerApi
  progress: Progress
  /** Of the domain. */
  scriptUrl: string
  made: CreatedEntities
  /** Stores `made`, before what it says is asked for. */
  keepMade(made: CreatedEntities): void
  /** The version to which our workspace was brought last; null: it is not known. */
  broughtTo: string | null
}

/** What is in a workspace, as far as a deployment has to know it. */
interface Content {
  templates: Template[]
  triggers: Trigger[]
  tags: Tag[]
  /** Null: none is named, so they were not asked for. */
  variables: readonly string[] | null
}

/** Reads and calls that come before the first write of a deployment, when all goes well. */
const READS = 6

/**
 * Puts our template, trigger and tag into a workspace and tells it which tags to report. Each step looks at what is there, so
 * what was cut off is gone on with, and nothing is written that is as it should be. Nothing is made a version or published.
 */
export async function deploy(
  input: DeployInput,
  parts: DeployDeps,
): Promise<{ deployed: Deployed; liveVersion: string | null }> {
  const { api, progress } = parts
  const { containerPath, selectedTags = {} } = input
  progress.expect(READS + 3 + Object.keys(selectedTags).length)
  const { workspace, isNew } = await ensureWorkspace(api, containerPath, () => note(parts, { workspace: true }))
  // The container may have no more, and it is the default one.
  if (!isNew && workspace.name !== OUR_NAME) note(parts, { workspace: false })
  const live = await liveVersionOf(api, containerPath)
  const liveVersion = live?.containerVersionId ?? null
  await syncWorkspace(api, workspace, !isNew && liveVersion !== null && liveVersion !== parts.broughtTo)
  const content = await contentOf(api, workspace, input)
  check(input, content, workspace)
  const done = await write(input, parts, { workspace, content })
  const { path: workspacePath, name: workspaceName } = workspace
  const workspaceCreated = parts.made.workspace === true
  const monitoredTags = Object.keys(selectedTags).length
  return {
    deployed: { deployed: true, workspacePath, workspaceName, workspaceCreated, ...done, monitoredTags },
    liveVersion,
  }
}

function note(parts: DeployDeps, more: CreatedEntities): void {
  parts.made = { ...parts.made, ...more }
  parts.keepMade(parts.made)
}

async function contentOf(api: TagManagerApi, { path }: Workspace, input: DeployInput): Promise<Content> {
  const templates = await api.list<Template>(`${path}/templates`, 'template')
  const triggers = await api.list<Trigger>(`${path}/triggers`, 'trigger')
  const tags = await api.list<Tag>(`${path}/tags`, 'tag')
  if (variablesIn(input).length === 0) return { templates, triggers, tags, variables: null }
  const variables = await variablesOf(api, path)
  return { templates, triggers, tags, variables: variables.map(({ name }) => name) }
}

/** Those that people made, then those that Tag Manager has itself, as far as they are switched on. */
export async function variablesOf(api: TagManagerApi, workspacePath: string): Promise<Variable[]> {
  const own = await api.list<Variable>(`${workspacePath}/variables`, 'variable')
  const builtIn = await api.list<Variable>(`${workspacePath}/built_in_variables`, 'builtInVariable')
  return [...own, ...builtIn].map(({ name, type }) => ({ name, type }))
}

/** The variables that our own tag names, with the field that names them. */
function variablesIn({ customerIdVariable = '', sessionIdVariable = '' }: DeployInput) {
  return [
    { field: 'customerIdVariable', name: customerIdVariable },
    { field: 'sessionIdVariable', name: sessionIdVariable },
  ].filter(({ name }) => name !== '')
}

/** Refuses with `invalid`, naming the field, what could not be published: nothing was written then. */
function check(input: DeployInput, { templates, tags, variables }: Content, workspace: Workspace): void {
  const fault = (field: string, what: string) => new AppError('invalid', `${field}: ${what}`)
  const where = `in workspace ${workspace.name}`
  for (const { field, name } of variablesIn(input)) {
    if (variables?.includes(name)) continue
    throw fault(field, `there is no variable ${name} ${where}; built-in ones have to be switched on in Tag Manager`)
  }
  const own = ourTag(input, templates, tags)
  const taken = tags.find(({ name, tagId }) => name === tagNameOf(input) && tagId !== own?.tagId)
  if (taken) throw fault('tagName', `another tag ${where} has this name`)
  for (const [tagId, names] of Object.entries(input.selectedTags ?? {})) {
    const field = `selectedTags.${tagId}`
    if (!tags.some((tag) => tag.tagId === tagId)) throw fault(field, `there is no such tag ${where}`)
    if (tagId === own?.tagId) throw fault(field, 'is the tag of Tagwarden itself, which can not report itself')
    const reserved = names.find((name) => RESERVED_REPORT_KEYS.includes(name))
    if (reserved) throw fault(field, `a report has a field ${reserved} of its own, so no variable of this name`)
  }
}

const tagNameOf = ({ tagName = 'Monitoring Tag' }: DeployInput): string => tagName

export const ourTemplate = (templates: readonly Template[]): Template | undefined =>
  templates.find(({ name }) => name === OUR_NAME)

/** The one that is made of our template, under its name or the one that it had before. */
function ourTag(input: DeployInput, templates: readonly Template[], tags: readonly Tag[]): Tag | undefined {
  const template = ourTemplate(templates)
  if (!template) return undefined
  const type = tagTypeOf(template, containerIdOf(input.containerPath))
  const all = tags.filter((tag) => tag.type === type)
  return all.find(({ name }) => name === tagNameOf(input)) ?? all[0]
}

interface Place {
  workspace: Workspace
  content: Content
}

async function write(input: DeployInput, parts: DeployDeps, place: Place): Promise<Pick<Deployed, 'template' | 'tag'>> {
  const { api, progress } = parts
  const selected = Object.entries(input.selectedTags ?? {}).flatMap(([tagId, names]) => {
    const tag = place.content.tags.find((one) => one.tagId === tagId)
    return tag && withReportMetadata(tag, names) ? [{ tag, names }] : []
  })
  progress.expect(3 + selected.length)
  const template = await keepTemplate(parts, place)
  const trigger = await keepTrigger(parts, place)
  const tag = await keepTag(input, parts, place, { template: template.entity, trigger })
  progress.expect(selected.length)
  for (const { tag, names } of selected) await api.update(tag, (present) => withReportMetadata(present, names))
  return { template: template.is, tag }
}

async function keepTemplate(parts: DeployDeps, { workspace, content }: Place) {
  const { api, scriptUrl, made } = parts
  const wanted = desiredTemplate(scriptUrl)
  const path = `${workspace.path}/templates`
  const found = ourTemplate(content.templates)
  if (!found) {
    note(parts, { template: 'new' })
    const look = async () => ourTemplate(await api.list<Template>(path, 'template')) ?? null
    return { entity: await api.create<Template>(path, wanted, look), is: 'new' as const }
  }
  if (!withDesired(found, wanted)) return { entity: found, is: made.template ?? ('existing' as const) }
  if (made.template !== 'new') note(parts, { template: 'updated' })
  const entity = await api.update(found, (present) => withDesired(present, wanted))
  return { entity, is: parts.made.template ?? ('updated' as const) }
}

async function keepTrigger({ api }: DeployDeps, { workspace, content }: Place): Promise<Trigger> {
  const path = `${workspace.path}/triggers`
  const ours = (triggers: readonly Trigger[]) => triggers.find(({ name }) => name === OUR_NAME)
  const found = ours(content.triggers)
  if (found) return api.update(found, (present) => withDesired(present, DESIRED_TRIGGER))
  const look = async () => ours(await api.list<Trigger>(path, 'trigger')) ?? null
  return api.create<Trigger>(path, DESIRED_TRIGGER, look)
}

async function keepTag(
  input: DeployInput,
  parts: DeployDeps,
  { workspace, content }: Place,
  { template, trigger }: { template: Template; trigger: Trigger },
): Promise<Deployed['tag']> {
  const { api, scriptUrl } = parts
  const { containerPath, customerIdVariable = '', sessionIdVariable = '', whitelistedDomains = [] } = input
  const wanted = desiredTag({
    name: tagNameOf(input),
    type: tagTypeOf(template, containerIdOf(containerPath)),
    triggerId: trigger.triggerId,
    ...{ scriptUrl, customerIdVariable, sessionIdVariable },
    allowedDomains: whitelistedDomains,
    selectedTagIds: Object.keys(input.selectedTags ?? {}),
  })
  const path = `${workspace.path}/tags`
  const templates = [...content.templates.filter(({ path }) => path !== template.path), template]
  const found = ourTag(input, templates, content.tags)
  if (found) {
    await api.update(found, (present) => withDesired(present, wanted))
    return parts.made.tag ?? 'updated'
  }
  note(parts, { tag: 'new' })
  const look = async () => ourTag(input, templates, await api.list<Tag>(path, 'tag')) ?? null
  await api.create<Tag>(path, wanted, look)
  return 'new'
}
