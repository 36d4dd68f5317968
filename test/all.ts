import './run-tests.ts'
