/** A parameter of an entity: https://developers.google.com/tag-platform/tag-manager/api/v2/parameter */
export interface Parameter {
  type: string
  key?: string
  value?: string
  list?: Parameter[]
  map?: Parameter[]
}

/** An entity in a workspace. Unknown fields are preserved. */
export interface Entity {
  /** Relative to the base URL: `accounts/1/containers/2/workspaces/3/tags/4`. */
  path: string
  name: string
  /** Changes with every write. */
  fingerprint: string
  [field: string]: unknown
}

export interface Workspace extends Entity {
  workspaceId: string
}

export interface Template extends Entity {
  templateId: string
  templateData: string
  /** Absent: the template was created or imported in this container. */
  galleryReference?: { galleryTemplateId?: string }
}

export interface Trigger extends Entity {
  triggerId: string
}

export interface Tag extends Entity {
  tagId: string
  type: string
  paused?: boolean
  parameter?: Parameter[]
  monitoringMetadata?: Parameter
}

export interface Variable {
  name: string
  type: string
}

/** An entity changed differently in the workspace and in the latest version. */
export interface MergeConflict {
  entityInWorkspace?: Record<string, unknown>
  entityInBaseVersion?: Record<string, unknown>
}

export interface LiveVersion {
  containerVersionId: string
  name?: string
}

/** The type of a template's tags. Gallery templates have the same type in all containers. */
export function tagTypeOf({ templateId, galleryReference }: Template, containerId: string): string {
  return `cvt_${galleryReference?.galleryTemplateId ?? `${containerId}_${templateId}`}`
}

export const containerIdOf = (containerPath: string): string => containerPath.split('/').at(-1) ?? ''
