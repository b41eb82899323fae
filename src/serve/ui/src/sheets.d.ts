// The bundler takes style sheets as they are.
declare module '*.css';
