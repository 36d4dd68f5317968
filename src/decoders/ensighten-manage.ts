import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import { sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

const BOOTSTRAP: Route = { path: /^\/[^/]+\/(?:[^/]+\/)?Bootstrap\.js$/, carries: 'library', read: readLibrary }

/** The account is `<client>/<space>`. A path without a space belongs to the production space. */
export const ensightenManage: Decoder = {
  vendor: 'Ensighten Manage',
  source: 'https://github.com/MisterPhilip/omnibug',
  hosts: ['ensighten.com'],
  routes: [
    BOOTSTRAP,
    { path: /^\/[^/]+\/[^/]+\/code\/\w+\.js$/, carries: 'library', read: readLibrary },
    // Requests for the tags of a page, and reports of their results.
    sideChannel(/\/(?:serverComponent\.php|no-content|error\/e\.gif|tags\/pageview)$/),
    // A user interface framework has a file with the same name.
    { ...BOOTSTRAP, anyHost: true, mark: /^nexus/, when: ({ host }) => host.startsWith('nexus') },
  ],
}

function readLibrary({ path, query }: VendorRequest): DecodedEvent[] {
  const [client, ...rest] = path.split('/').slice(1)
  const space = rest.length > 1 ? rest[0] : 'prod'
  return [{ event: '', account: `${client}/${space}`, kind: 'library', params: query }]
}
