/** The pages of this folder are one file of script. */
export { IssuePage } from './issue/issue-page.tsx'
export { IssuesPage } from './issues-page.tsx'
