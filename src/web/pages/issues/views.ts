/** The pages of this folder are bundled as one chunk. */
export { IssuePage } from './issue/issue-page.tsx'
export { IssuesPage } from './issues-page.tsx'
