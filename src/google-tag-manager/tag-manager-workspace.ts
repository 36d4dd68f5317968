import { AppError } from '../core/error.ts'
import { oneLine } from '../core/text.ts'
import { Refused, type TagManagerApi } from './tag-manager-api.ts'
import type { LiveVersion, MergeConflict, Workspace } from './tag-manager-entities.ts'
import { OWN_NAME } from './tagwarden-entities.ts'

const DESCRIPTION = 'Created by Tagwarden. Review the changes, then publish.'

export const workspacesOf = (api: TagManagerApi, containerPath: string): Promise<Workspace[]> =>
  api.list<Workspace>(`${containerPath}/workspaces`, 'workspace')

export const ownWorkspace = (workspaces: readonly Workspace[]): Workspace | undefined =>
  workspaces.find(({ name }) => name === OWN_NAME)

/** The default workspace, or the oldest workspace if the default one was renamed. */
export function defaultWorkspace(workspaces: readonly Workspace[]): Workspace {
  const oldest = workspaces.toSorted((a, b) => Number(a.workspaceId) - Number(b.workspaceId))[0]
  const found = workspaces.find(({ name }) => name === 'Default Workspace') ?? oldest
  if (found) return found
  throw new AppError('upstream', 'Tag Manager: the container has no workspace')
}

/**
 * Finds or creates the Tagwarden workspace. Free containers are limited to three workspaces. If no workspace can be
 * created, returns the default one.
 * @param onCreate Called before the workspace is created.
 */
export async function ensureWorkspace(
  api: TagManagerApi,
  containerPath: string,
  onCreate: () => void,
): Promise<{ workspace: Workspace; isNew: boolean }> {
  const existing = await workspacesOf(api, containerPath)
  const found = ownWorkspace(existing)
  if (found) return { workspace: found, isNew: false }
  const find = async () => ownWorkspace(await workspacesOf(api, containerPath)) ?? null
  onCreate()
  try {
    const body = { name: OWN_NAME, description: DESCRIPTION }
    return { workspace: await api.create<Workspace>(`${containerPath}/workspaces`, body, find), isNew: true }
  } catch (error) {
    if (!isLimit(error)) throw error
    return { workspace: defaultWorkspace(existing), isNew: false }
  }
}

/**
 * True if the error may mean "too many workspaces". Google does not document its reason code, so every error that does
 * not concern access qualifies.
 */
function isLimit(error: unknown): boolean {
  if (!(error instanceof Refused)) return false
  const isOfAccess = /permission|scope|auth|forbidden/i.test(error.reason) && !/limit|maximum/i.test(error.message)
  return [400, 403, 409, 429].includes(error.status) && !isOfAccess
}

/** The published version of a container. Null if no version was published. */
export async function liveVersionOf(api: TagManagerApi, containerPath: string): Promise<LiveVersion | null> {
  const live = await api.find<Partial<LiveVersion>>(`${containerPath}/versions:live`)
  const id = live?.containerVersionId
  return live && id !== undefined && id !== '0' ? { ...live, containerVersionId: id } : null
}

interface WorkspaceStatus {
  mergeConflict?: MergeConflict[]
}

interface SyncAnswer extends WorkspaceStatus {
  syncStatus?: { mergeConflict?: boolean; syncError?: boolean }
}

/** Syncs a workspace to the latest version. Fails with `upstream` on a merge conflict, which a user must resolve. */
export async function syncWorkspace(api: TagManagerApi, { path, name }: Workspace, isBehind: boolean): Promise<void> {
  refuseConflicts(name, await api.get<WorkspaceStatus>(`${path}/status`))
  if (!isBehind) return
  const { syncStatus, ...rest } = await api.act<SyncAnswer>(`${path}:sync`)
  refuseConflicts(name, rest)
  if (syncStatus?.mergeConflict || syncStatus?.syncError) throw outOfDate(name, '')
}

function refuseConflicts(workspace: string, { mergeConflict = [] }: WorkspaceStatus): void {
  if (mergeConflict.length === 0) return
  const names = mergeConflict.slice(0, 5).map(nameOf)
  const more = mergeConflict.length - names.length
  throw outOfDate(workspace, `: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`)
}

const outOfDate = (workspace: string, what: string) =>
  new AppError(
    'upstream',
    `Tag Manager: mergeConflict: workspace ${oneLine(workspace, 100)} conflicts with the latest version${what}; resolve the conflict in Tag Manager, then repeat the request`,
  )

/** Type and name of the conflicting entity: `tag Purchase`. */
function nameOf({ entityInWorkspace, entityInBaseVersion }: MergeConflict): string {
  const parts = Object.entries(entityInWorkspace ?? entityInBaseVersion ?? {})
  const [kind, entity] = parts.find(([, value]) => typeof value === 'object' && value !== null) ?? ['something', null]
  return `${kind} ${oneLine(String((entity as { name?: unknown } | null)?.name ?? ''), 60)}`.trim()
}
