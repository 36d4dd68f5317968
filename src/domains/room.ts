import type { Base, Room } from '../base.ts'
import type { Emitter } from '../core/emitter.ts'
import { checkHosts } from './check-collect-hostnames.ts'
import { type DomainDirectory, domainDirectory } from './domain-directory.ts'
import type { DomainRouteDeps } from './domain-route-deps.ts'
import { projectRoutes } from './project-routes.ts'
import { domainRoutes } from './routes.ts'

export interface DomainsRoom extends Room {
  directory: DomainDirectory
}

interface Deps
  extends Pick<DomainRouteDeps, 'maskTextOf' | 'noteSetting' | 'openIssues' | 'resolveIssues' | 'lastOrders'> {
  org: { changed: Emitter<string>; deleted: Emitter<string> }
}

/** Creates the module for domains and projects. */
export function openDomains(base: Base, { org, ...queries }: Deps): DomainsRoom {
  const { db, clock, config, guard, transport, publicUrl, collectUrl, stopping } = base
  const directory = domainDirectory({ db, clock })
  const changed = () => directory.invalidate()
  for (const emitter of [org.changed, org.deleted]) emitter.subscribe(changed)
  return {
    directory,
    routes: [
      ...domainRoutes({
        ...queries,
        db,
        clock,
        collectUrl,
        publicUrl,
        isEndpointLocked: config.endpointLock === 'on',
        isHostAllowed: (hostname) => guard.names(hostname),
        changed,
      }),
      ...projectRoutes({ db, clock }),
    ],
    jobs: [
      { name: 'refresh domains', pattern: '* * * * * *', run: async () => directory.refresh() },
      {
        name: 'check hosts',
        isOutbound: true,
        pattern: '*/10 * * * * *',
        run: () => checkHosts({ db, clock, transport, changed, signal: stopping }),
      },
    ],
  }
}
