/** The pages in this folder are bundled as one chunk. */
export { ChangePage } from './change-page.tsx'
export { ChangesPage } from './changes-page.tsx'
export { ComparePage } from './compare-page.tsx'
export { GateRunPage } from './gate-run-page.tsx'
export { GateRunsPage } from './gate-runs-page.tsx'
