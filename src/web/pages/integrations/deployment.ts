import { deployTags } from '#client/sdk.gen'
import type { TagDeployInput, TagDeployment } from '#client/types.gen'
import { Refusal } from '../../api/refusal.ts'

/** `accounts/6/containers/71`, in whatever address of Tag Manager it stands; null where it does not. */
export const containerPathOf = (text: string): string | null => /accounts\/\d+\/containers\/\d+/.exec(text)?.[0] ?? null

/** What a person fills in. */
export interface DeploymentDraft {
  domainId: string
  /** The container's address in Tag Manager. */
  address: string
  publicId: string
  tagName: string
  customerIdVariable: string
  sessionIdVariable: string
  whitelistedDomains: readonly string[]
  /** Names of variables by the id of a tag; null: all tags are reported, by their ids. */
  selectedTags: Readonly<Record<string, readonly string[]>> | null
}

export const NO_DEPLOYMENT: DeploymentDraft = {
  ...{ domainId: '', address: '', publicId: '', tagName: 'Monitoring Tag' },
  ...{ customerIdVariable: '', sessionIdVariable: '', whitelistedDomains: [], selectedTags: null },
}

/** What is sent. The server asks for a container's name and numbers, of which the numbers stand in its address. */
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

/** Asks until the deployment is over: one that takes longer than an answer may goes on, and the same request waits for it. */
export async function deploy(body: TagDeployInput, signal: AbortSignal): Promise<TagDeployment> {
  for (;;) {
    try {
      return (await deployTags({ body, signal, throwOnError: true })).data
    } catch (error) {
      const waitS = error instanceof Refusal && error.status === 503 ? error.retryAfterS : null
      if (waitS === null || signal.aborted) throw error
      await new Promise((done) => setTimeout(done, waitS * 1000))
      signal.throwIfAborted()
    }
  }
}
