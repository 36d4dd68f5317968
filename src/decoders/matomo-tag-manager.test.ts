import { testDecoder } from './decoder-cases.ts'
import { matomoTagManager } from './matomo-tag-manager.ts'

// https://developer.matomo.org/guides/tagmanager/embedding
testDecoder(matomoTagManager, [
  {
    name: 'a container in the cloud',
    url: 'https://cdn.matomo.cloud/shop.matomo.cloud/container_a1B2c3D4.js',
    account: 'a1B2c3D4',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a container in preview mode',
    url: 'https://stats.shop.example/js/container_a1B2c3D4_staging_0123456789abcdef.js',
    account: 'a1B2c3D4',
    events: [''],
    kind: 'library',
  },
  { name: 'an unrelated file', url: 'https://shop.example/js/container_main.js', events: null },
])
