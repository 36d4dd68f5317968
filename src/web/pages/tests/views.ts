/** The pages of this folder are bundled as one chunk. */
export { NewTestPage } from './new-test-page.tsx'
export { RunPage } from './run/run-page.tsx'
export { TestPage } from './test-page.tsx'
export { TestsPage } from './tests-page.tsx'
