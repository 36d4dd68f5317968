import { AppError } from '../core/error.ts'
import type { Deployed, DeployInput } from './deploy-schemas.ts'
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
import { ensureWorkspace, liveVersionOf, syncWorkspace } from './tag-manager-workspace.ts'
import {
  DESIRED_TRIGGER,
  desiredTag,
  desiredTemplate,
  OWN_NAME,
  RESERVED_REPORT_KEYS,
  withDesired,
  withReportMetadata,
} from './tagwarden-entities.ts'

/**
 * Entities created by any attempt of a deployment. They are recorded so that a later attempt still reports them as new.
 */
export interface CreatedEntities {
  workspace?: boolean
  template?: 'new' | 'updated'
  tag?: 'new'
}

interface DeployDeps {
  api: TagManagerApi
  progress: Progress
  /** URL of the domain's browser script. */
  scriptUrl: string
  made: CreatedEntities
  /** Saves `made`. Called before the entity is created. */
  saveMade(made: CreatedEntities): void
  /** The version that the Tagwarden workspace was most recently synced to. Null if unknown. */
  broughtTo: string | null
}

/** The parts of a workspace that a deployment uses. */
interface Content {
  templates: Template[]
  triggers: Trigger[]
  tags: Tag[]
  /** Null if they were not fetched because the request names no variable. */
  variables: readonly string[] | null
}

/** Typical number of calls before the first write of a deployment. */
const READS = 6

/**
 * Creates or updates the Tagwarden template, trigger and tag in a workspace, and sets which tags are reported. Each
 * step first checks what exists, so that an interrupted deployment can be resumed and nothing is written unnecessarily.
 * Does not create a version or publish anything.
 */
export async function deploy(
  input: DeployInput,
  deps: DeployDeps,
): Promise<{ deployed: Deployed; liveVersion: string | null }> {
  const { api, progress } = deps
  const { containerPath, selectedTags = {} } = input
  progress.expect(READS + 3 + Object.keys(selectedTags).length)
  const { workspace, isNew } = await ensureWorkspace(api, containerPath, () => recordCreated(deps, { workspace: true }))
  // The container has reached its limit of workspaces, so the default workspace is used.
  if (!isNew && workspace.name !== OWN_NAME) recordCreated(deps, { workspace: false })
  const live = await liveVersionOf(api, containerPath)
  const liveVersion = live?.containerVersionId ?? null
  await syncWorkspace(api, workspace, !isNew && liveVersion !== null && liveVersion !== deps.broughtTo)
  const content = await contentOf(api, workspace, input)
  checkInput(input, content, workspace)
  const done = await write(input, deps, { workspace, content })
  const { path: workspacePath, name: workspaceName } = workspace
  const workspaceCreated = deps.made.workspace === true
  const monitoredTags = Object.keys(selectedTags).length
  return {
    deployed: { deployed: true, workspacePath, workspaceName, workspaceCreated, ...done, monitoredTags },
    liveVersion,
  }
}

function recordCreated(deps: DeployDeps, more: CreatedEntities): void {
  deps.made = { ...deps.made, ...more }
  deps.saveMade(deps.made)
}

async function contentOf(api: TagManagerApi, { path }: Workspace, input: DeployInput): Promise<Content> {
  const templates = await api.list<Template>(`${path}/templates`, 'template')
  const triggers = await api.list<Trigger>(`${path}/triggers`, 'trigger')
  const tags = await api.list<Tag>(`${path}/tags`, 'tag')
  if (variablesIn(input).length === 0) return { templates, triggers, tags, variables: null }
  const variables = await variablesOf(api, path)
  return { templates, triggers, tags, variables: variables.map(({ name }) => name) }
}

/** User-defined variables, followed by the enabled built-in ones. */
export async function variablesOf(api: TagManagerApi, workspacePath: string): Promise<Variable[]> {
  const own = await api.list<Variable>(`${workspacePath}/variables`, 'variable')
  const builtIn = await api.list<Variable>(`${workspacePath}/built_in_variables`, 'builtInVariable')
  return [...own, ...builtIn].map(({ name, type }) => ({ name, type }))
}

/** Variables used by the Tagwarden tag, each with the name of the request field that specifies it. */
function variablesIn({ customerIdVariable = '', sessionIdVariable = '' }: DeployInput) {
  return [
    { field: 'customerIdVariable', name: customerIdVariable },
    { field: 'sessionIdVariable', name: sessionIdVariable },
  ].filter(({ name }) => name !== '')
}

/**
 * Fails with `invalid`, naming the field, if the resulting workspace could not be published. Called before anything is
 * written.
 */
function checkInput(input: DeployInput, { templates, tags, variables }: Content, workspace: Workspace): void {
  const invalid = (field: string, what: string) => new AppError('invalid', `${field}: ${what}`)
  const location = `in workspace ${workspace.name}`
  for (const { field, name } of variablesIn(input)) {
    if (variables?.includes(name)) continue
    throw invalid(field, `there is no variable ${name} ${location}; built-in variables must be enabled in Tag Manager`)
  }
  const own = ownTag(input, templates, tags)
  const taken = tags.find(({ name, tagId }) => name === tagNameOf(input) && tagId !== own?.tagId)
  if (taken) throw invalid('tagName', `another tag ${location} already has this name`)
  for (const [tagId, names] of Object.entries(input.selectedTags ?? {})) {
    const field = `selectedTags.${tagId}`
    if (!tags.some((tag) => tag.tagId === tagId)) throw invalid(field, `there is no such tag ${location}`)
    if (tagId === own?.tagId) throw invalid(field, 'is the Tagwarden tag, which cannot report itself')
    const reserved = names.find((name) => RESERVED_REPORT_KEYS.includes(name))
    if (reserved)
      throw invalid(field, `a variable named ${reserved} cannot be reported, because reports reserve this name`)
  }
}

const tagNameOf = ({ tagName = 'Monitoring Tag' }: DeployInput): string => tagName

export const ownTemplate = (templates: readonly Template[]): Template | undefined =>
  templates.find(({ name }) => name === OWN_NAME)

/**
 * The tag created from the Tagwarden template. A tag with the requested name takes precedence over one with an earlier
 * name.
 */
function ownTag(input: DeployInput, templates: readonly Template[], tags: readonly Tag[]): Tag | undefined {
  const template = ownTemplate(templates)
  if (!template) return undefined
  const type = tagTypeOf(template, containerIdOf(input.containerPath))
  const all = tags.filter((tag) => tag.type === type)
  return all.find(({ name }) => name === tagNameOf(input)) ?? all[0]
}

interface Target {
  workspace: Workspace
  content: Content
}

async function write(
  input: DeployInput,
  deps: DeployDeps,
  target: Target,
): Promise<Pick<Deployed, 'template' | 'tag'>> {
  const { api, progress } = deps
  const selected = Object.entries(input.selectedTags ?? {}).flatMap(([tagId, names]) => {
    const tag = target.content.tags.find((one) => one.tagId === tagId)
    return tag && withReportMetadata(tag, names) ? [{ tag, names }] : []
  })
  progress.expect(3 + selected.length)
  const template = await ensureTemplate(deps, target)
  const trigger = await ensureTrigger(deps, target)
  const tag = await ensureTag(input, deps, target, { template: template.entity, trigger })
  progress.expect(selected.length)
  for (const { tag, names } of selected) await api.update(tag, (present) => withReportMetadata(present, names))
  return { template: template.is, tag }
}

async function ensureTemplate(deps: DeployDeps, { workspace, content }: Target) {
  const { api, scriptUrl, made } = deps
  const desired = desiredTemplate(scriptUrl)
  const path = `${workspace.path}/templates`
  const found = ownTemplate(content.templates)
  if (!found) {
    recordCreated(deps, { template: 'new' })
    const find = async () => ownTemplate(await api.list<Template>(path, 'template')) ?? null
    return { entity: await api.create<Template>(path, desired, find), is: 'new' as const }
  }
  if (!withDesired(found, desired)) return { entity: found, is: made.template ?? ('existing' as const) }
  if (made.template !== 'new') recordCreated(deps, { template: 'updated' })
  const entity = await api.update(found, (present) => withDesired(present, desired))
  return { entity, is: deps.made.template ?? ('updated' as const) }
}

async function ensureTrigger({ api }: DeployDeps, { workspace, content }: Target): Promise<Trigger> {
  const path = `${workspace.path}/triggers`
  const findOwn = (triggers: readonly Trigger[]) => triggers.find(({ name }) => name === OWN_NAME)
  const found = findOwn(content.triggers)
  if (found) return api.update(found, (present) => withDesired(present, DESIRED_TRIGGER))
  const find = async () => findOwn(await api.list<Trigger>(path, 'trigger')) ?? null
  return api.create<Trigger>(path, DESIRED_TRIGGER, find)
}

async function ensureTag(
  input: DeployInput,
  deps: DeployDeps,
  { workspace, content }: Target,
  { template, trigger }: { template: Template; trigger: Trigger },
): Promise<Deployed['tag']> {
  const { api, scriptUrl } = deps
  const { containerPath, customerIdVariable = '', sessionIdVariable = '', whitelistedDomains = [] } = input
  const desired = desiredTag({
    name: tagNameOf(input),
    type: tagTypeOf(template, containerIdOf(containerPath)),
    triggerId: trigger.triggerId,
    scriptUrl,
    customerIdVariable,
    sessionIdVariable,
    allowedDomains: whitelistedDomains,
    selectedTagIds: Object.keys(input.selectedTags ?? {}),
  })
  const path = `${workspace.path}/tags`
  const templates = [...content.templates.filter(({ path }) => path !== template.path), template]
  const found = ownTag(input, templates, content.tags)
  if (found) {
    await api.update(found, (present) => withDesired(present, desired))
    return deps.made.tag ?? 'updated'
  }
  recordCreated(deps, { tag: 'new' })
  const find = async () => ownTag(input, templates, await api.list<Tag>(path, 'tag')) ?? null
  await api.create<Tag>(path, desired, find)
  return 'new'
}
