import { AppError } from '../../../core/error.ts'
import { oneLine } from '../../message/one-line.ts'
import { OUR_NAME } from './desired-entities.ts'
import { Refused, type TagManagerApi } from './tag-manager-api.ts'
import type { LiveVersion, MergeConflict, Workspace } from './tag-manager-entities.ts'

const DESCRIPTION = 'Made by Tagwarden. Look through what is in it, then publish it.'

export const workspacesOf = (api: TagManagerApi, containerPath: string): Promise<Workspace[]> =>
  api.list<Workspace>(`${containerPath}/workspaces`, 'workspace')

export const ownWorkspace = (workspaces: readonly Workspace[]): Workspace | undefined =>
  workspaces.find(({ name }) => name === OUR_NAME)

/** The one that every container begins with; when it was published under another name, the oldest. */
export function defaultWorkspace(workspaces: readonly Workspace[]): Workspace {
  const oldest = workspaces.toSorted((a, b) => Number(a.workspaceId) - Number(b.workspaceId))[0]
  const found = workspaces.find(({ name }) => name === 'Default Workspace') ?? oldest
  if (found) return found
  throw new AppError('upstream', 'Tag Manager: the container has no workspace')
}

/**
 * Our workspace, made when there is none. Containers that cost nothing have three at most: when they are there, the default one
 * is taken.
 * @param making called before it is made
 */
export async function ensureWorkspace(
  api: TagManagerApi,
  containerPath: string,
  making: () => void,
): Promise<{ workspace: Workspace; isNew: boolean }> {
  const present = await workspacesOf(api, containerPath)
  const found = ownWorkspace(present)
  if (found) return { workspace: found, isNew: false }
  const look = async () => ownWorkspace(await workspacesOf(api, containerPath)) ?? null
  making()
  try {
    const body = { name: OUR_NAME, description: DESCRIPTION }
    return { workspace: await api.create<Workspace>(`${containerPath}/workspaces`, body, look), isNew: true }
  } catch (error) {
    if (!isLimit(error)) throw error
    return { workspace: defaultWorkspace(present), isNew: false }
  }
}

/** Which word Google has for "no more workspaces" is not documented; what it is not is known. */
function isLimit(error: unknown): boolean {
  if (!(error instanceof Refused)) return false
  const isOfAccess = /permission|scope|auth|forbidden/i.test(error.reason) && !/limit|maximum/i.test(error.message)
  return [400, 403, 409, 429].includes(error.status) && !isOfAccess
}

/** The version that visitors get; null while none was published. */
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

/** Brings a workspace to the latest version. Fails with `upstream` when both changed the same thing: people have to decide. */
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
    `Tag Manager: mergeConflict: workspace ${oneLine(workspace, 100)} and the latest version changed the same${what}; resolve it in Tag Manager, then ask again`,
  )

/** `tag Purchase` */
function nameOf({ entityInWorkspace, entityInBaseVersion }: MergeConflict): string {
  const parts = Object.entries(entityInWorkspace ?? entityInBaseVersion ?? {})
  const [kind, entity] = parts.find(([, value]) => typeof value === 'object' && value !== null) ?? ['something', null]
  return `${kind} ${oneLine(String((entity as { name?: unknown } | null)?.name ?? ''), 60)}`.trim()
}
