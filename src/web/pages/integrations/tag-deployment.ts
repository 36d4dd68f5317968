import type { TagDeployInput } from '#client/types.gen'

/** Extracts `accounts/6/containers/71` from any Tag Manager URL; null when the URL contains no container path. */
export const containerPathOf = (text: string): string | null => /accounts\/\d+\/containers\/\d+/.exec(text)?.[0] ?? null

/** The fields of the form. */
export interface DeploymentDraft {
  domainId: string
  /** The container's URL in Tag Manager. */
  address: string
  publicId: string
  tagName: string
  customerIdVariable: string
  sessionIdVariable: string
  whitelistedDomains: readonly string[]
  /** Variable names by tag id. If null, all tags are reported by id. */
  selectedTags: Readonly<Record<string, readonly string[]>> | null
}

export const NO_DEPLOYMENT: DeploymentDraft = {
  domainId: '',
  address: '',
  publicId: '',
  tagName: 'Monitoring Tag',
  customerIdVariable: '',
  sessionIdVariable: '',
  whitelistedDomains: [],
  selectedTags: null,
}

/** The request body. The account and container numbers are taken from the container's URL. */
export function inputOf({
  address,
  publicId,
  selectedTags,
  whitelistedDomains,
  ...rest
}: DeploymentDraft): TagDeployInput {
  const containerPath = containerPathOf(address) ?? address.trim()
  const [accountId = '', containerId = ''] = containerPath.match(/\d+/g) ?? []
  return {
    ...rest,
    containerPath,
    container: { name: publicId, publicId, accountId, containerId },
    whitelistedDomains: [...whitelistedDomains],
    ...(selectedTags && {
      selectedTags: Object.fromEntries(Object.entries(selectedTags).map(([id, names]) => [id, [...names]])),
    }),
  }
}
