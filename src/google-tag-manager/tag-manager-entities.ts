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
  /** Path relative to the base URL: `accounts/1/containers/2/workspaces/3/tags/4`. */
  path: string
  name: string
  /** Fingerprint of the content. It changes with every write. */
  fingerprint: string
  [field: string]: unknown
}

export interface Workspace extends Entity {
  workspaceId: string
}

export interface Template extends Entity {
  templateId: string
  templateData: string
  /** If absent, the template was created or imported in this container. */
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

/** An entity whose changes in the workspace and in the latest version conflict. */
export interface MergeConflict {
  entityInWorkspace?: Record<string, unknown>
  entityInBaseVersion?: Record<string, unknown>
}

export interface LiveVersion {
  containerVersionId: string
  name?: string
}

/** The type of tags created from a template. Gallery templates have the same tag type in all containers. */
export function tagTypeOf({ templateId, galleryReference }: Template, containerId: string): string {
  return `cvt_${galleryReference?.galleryTemplateId ?? `${containerId}_${templateId}`}`
}

export const containerIdOf = (containerPath: string): string => containerPath.split('/').at(-1) ?? ''
