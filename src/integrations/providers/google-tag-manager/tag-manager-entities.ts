/** A setting of something in a container: https://developers.google.com/tag-platform/tag-manager/api/v2/parameter */
export interface Parameter {
  type: string
  key?: string
  value?: string
  list?: Parameter[]
  map?: Parameter[]
}

/** Something in a workspace. What else it has is carried along as it came. */
export interface Entity {
  /** Below the address of the API: `accounts/1/containers/2/workspaces/3/tags/4`. */
  path: string
  name: string
  /** Another one after each change. */
  fingerprint: string
  [field: string]: unknown
}

export interface Workspace extends Entity {
  workspaceId: string
}

export interface Template extends Entity {
  templateId: string
  templateData: string
  /** Absent: it was made or imported in this container. */
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

/** Two things that can't be brought together, as they are here and in the latest version. */
export interface MergeConflict {
  entityInWorkspace?: Record<string, unknown>
  entityInBaseVersion?: Record<string, unknown>
}

export interface LiveVersion {
  containerVersionId: string
  name?: string
}

/** The type of tags that are made of a template: those of the gallery have one for all containers. */
export function tagTypeOf({ templateId, galleryReference }: Template, containerId: string): string {
  return `cvt_${galleryReference?.galleryTemplateId ?? `${containerId}_${templateId}`}`
}

export const containerIdOf = (containerPath: string): string => containerPath.split('/').at(-1) ?? ''
