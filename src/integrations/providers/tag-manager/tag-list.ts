import type { TagManagerApi } from './api.ts'
import { ourTemplate, variablesOf } from './deploy.ts'
import { displayTypeOf } from './display-types.ts'
import type { TagList } from './schemas.ts'
import { containerIdOf, type Parameter, type Tag, type Template, tagTypeOf } from './shapes.ts'
import { defaultWorkspace, ours, workspacesOf } from './workspace.ts'

/** What is in our workspace, or in the default one while there is none of ours. */
export async function tagListOf(api: TagManagerApi, containerPath: string): Promise<TagList> {
  const workspaces = await workspacesOf(api, containerPath)
  const { path, name: workspaceName } = ours(workspaces) ?? defaultWorkspace(workspaces)
  const tags = await api.list<Tag>(`${path}/tags`, 'tag')
  const isCustom = tags.some(({ type }) => type.startsWith('cvt_'))
  const templates = isCustom ? await api.list<Template>(`${path}/templates`, 'template') : []
  const variables = await variablesOf(api, path)
  const containerId = containerIdOf(containerPath)
  const names = new Map(templates.map((template) => [tagTypeOf(template, containerId), template.name]))
  const own = ourTemplate(templates)
  const ownType = own && tagTypeOf(own, containerId)
  return {
    workspaceName,
    tags: tags.map(({ tagId, name, type, paused = false, parameter = [] }) => ({
      ...{ tagId, name, type, paused },
      displayType: displayTypeOf(type, names),
      isService: type === ownType,
      parameters: parameter.map((one) => ({ value: textIn(one), type: one.type })),
    })),
    variables,
  }
}

/** Lists and maps as JSON. */
const textIn = ({ value, list, map }: Parameter): string => value ?? JSON.stringify(list ?? map ?? '')
