import type { TagList } from './deploy-schemas.ts'
import { ownTemplate, variablesOf } from './deploy-tag.ts'
import type { TagManagerApi } from './tag-manager-api.ts'
import { containerIdOf, type Parameter, type Tag, type Template, tagTypeOf } from './tag-manager-entities.ts'
import { defaultWorkspace, ownWorkspace, workspacesOf } from './tag-manager-workspace.ts'

/**
 * Lists the tags and variables of the Tagwarden workspace, or of the default workspace if there is no Tagwarden
 * workspace.
 */
export async function tagListOf(api: TagManagerApi, containerPath: string): Promise<TagList> {
  const workspaces = await workspacesOf(api, containerPath)
  const { path, name: workspaceName } = ownWorkspace(workspaces) ?? defaultWorkspace(workspaces)
  const tags = await api.list<Tag>(`${path}/tags`, 'tag')
  const isCustom = tags.some(({ type }) => type.startsWith('cvt_'))
  const templates = isCustom ? await api.list<Template>(`${path}/templates`, 'template') : []
  const variables = await variablesOf(api, path)
  const containerId = containerIdOf(containerPath)
  const names = new Map(templates.map((template) => [tagTypeOf(template, containerId), template.name]))
  const own = ownTemplate(templates)
  const ownType = own && tagTypeOf(own, containerId)
  return {
    workspaceName,
    tags: tags.map(({ tagId, name, type, paused = false, parameter = [] }) => ({
      tagId,
      name,
      type,
      paused,
      displayType: displayTypeOf(type, names),
      isService: type === ownType,
      parameters: parameter.map((one) => ({ value: textIn(one), type: one.type })),
    })),
    variables,
  }
}

/** The value of a parameter. Lists and maps are serialized as JSON. */
const textIn = ({ value, list, map }: Parameter): string => value ?? JSON.stringify(list ?? map ?? '')

/**
 * Display names of built-in tag types:
 * https://developers.google.com/tag-platform/tag-manager/api/v2/tag-dictionary-reference
 */
const NAMES = new Map([
  ['asp', 'AdRoll Smart Pixel'],
  ['awct', 'Google Ads conversion tracking'],
  ['awud', 'Google Ads user-provided data'],
  ['baut', 'Microsoft Advertising Universal Event Tracking'],
  ['bzi', 'LinkedIn Insight'],
  ['cegg', 'Crazy Egg'],
  ['crto', 'Criteo OneTag'],
  ['csm', 'comScore Unified Digital Measurement'],
  ['flc', 'Floodlight counter'],
  ['fls', 'Floodlight sales'],
  ['gaawc', 'Google Analytics: GA4 configuration'],
  ['gaawe', 'Google Analytics: GA4 event'],
  ['gclidw', 'Conversion linker'],
  ['googtag', 'Google tag'],
  ['hjtc', 'Hotjar'],
  ['html', 'Custom HTML'],
  ['img', 'Custom image'],
  ['mf', 'Mouseflow'],
  ['opt', 'Google Optimize'],
  ['qcm', 'Quantcast Audience Measurement'],
  ['qpx', 'Quora Pixel'],
  ['sp', 'Google Ads remarketing'],
  ['twitter_website_tag', 'X (Twitter) base code'],
  ['ua', 'Universal Analytics'],
])

/** Returns the display name of a built-in tag type, the name of the template, or otherwise the type itself. */
export function displayTypeOf(type: string, templateNames: ReadonlyMap<string, string>): string {
  return templateNames.get(type) ?? NAMES.get(type) ?? type
}
