import type { DecodedEvent, Decoder, Route } from './decoder.ts'
import type { VendorRequest } from './request.ts'
import { sideChannel } from './route.ts'

const BOOTSTRAP: Route = { path: /^\/[^/]+\/(?:[^/]+\/)?Bootstrap\.js$/, carries: 'library', read: readLibrary }

/** The account is `<client>/<space>`; without a space it is that of production. */
export const ensightenManage: Decoder = {
  vendor: 'Ensighten Manage',
  source: 'https://github.com/MisterPhilip/omnibug',
  hosts: ['ensighten.com'],
  routes: [
    BOOTSTRAP,
    { path: /^\/[^/]+\/[^/]+\/code\/\w+\.js$/, carries: 'library', read: readLibrary },
    // Which tags are for this page, and what happened to them.
    sideChannel(/\/(?:serverComponent\.php|no-content|error\/e\.gif|tags\/pageview)$/),
    // A framework of user interfaces has a file of this name.
    { ...BOOTSTRAP, anyHost: true, mark: /^nexus/, when: ({ host }) => host.startsWith('nexus') },
  ],
}

function readLibrary({ path, query }: VendorRequest): DecodedEvent[] {
  const [client, ...rest] = path.split('/').slice(1)
  const space = rest.length > 1 ? rest[0] : 'prod'
  return [{ event: '', account: `${client}/${space}`, kind: 'library', params: query }]
}
